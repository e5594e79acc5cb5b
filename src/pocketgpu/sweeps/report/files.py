"""The folder of a report: the page from its template, its scripts, data and pictures.

    index.html                      the page, with the data of the list
    assets/...                      its scripts and styles; plotly.min.js is from the installed package
    rows/0.js, 1.js, ...            details of rows
    pictures/, thumbnails/, differences/    named by digests
    captures.txt                    the list of what was swept

The page opens from a file, where a page may not read other files: data comes in scripts. Only scripts run that carry
the number of this page. It is a digest of all that the page says, so nothing in the page can know it in advance.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pocketgpu.inspect.pages.report_folder import PAGE, begin, store
from pocketgpu.sweeps.engine.clusters import cores
from pocketgpu.sweeps.report.contents import Contents
from pocketgpu.sweeps.report.data import Data

NEEDED: Final = ("jinja2", "plotly")
TEMPLATE: Final = "page.html.jinja"
SCRIPTS: Final = ("base.js", "list.js", "pictures.js", "details.js", "plots.js", "page.js")
STYLES: Final = ("colours.css", "page.css")
PLOTLY: Final = "plotly.min.js"
ASSETS: Final = Path(__file__).parent / "assets"
_DIGITS: Final = 32
Sources = dict[str, Callable[[], "Path | bytes | None"]]


def missing() -> list[str]:
    """What has to be installed before a report can be written."""
    return [name for name in NEEDED if find_spec(name) is None]


def write_folder(
    folder: Path, contents: Contents, others: Mapping[str, bytes] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:  # fmt: skip
    """Write a report into a folder. Files of an earlier one that this one does not need are removed; pictures that are
    there are kept.

    others: further files, by place. progress: called with how many of how many files are written.

    :raises OSError: the folder cannot be written.
    """
    data = Data(contents)
    plotted = any(value is not None for value in data.summary["rows"]["ms"]) or bool(data.summary["features"])
    texts: Sources = {}
    digest = hashlib.sha256()
    for number, part in enumerate(data.parts):
        script = f"report.arrived({number}, {_json(part)});\n".encode()
        digest.update(script)
        texts[f"rows/{number}.js"] = _given(script)
    for name, found in (others or {}).items():
        texts[name] = _given(found)
    for name in (*SCRIPTS, *STYLES):
        texts[f"assets/{name}"] = _given((ASSETS / name).read_bytes())
    if plotted:
        texts[f"assets/{PLOTLY}"] = _plotly
    digest.update(_json([data.summary, contents.title, contents.command, [*contents.facts]]).encode())
    page = _page(contents, data, plotted, digest.hexdigest()[:_DIGITS])
    begin(folder, [PAGE, *texts, *data.pictures.files])
    with ThreadPoolExecutor(cores()) as pool:
        wanted = [(name, make) for name, make in data.pictures.files.items() if not (folder / name).exists()]
        jobs = [pool.submit(_put, folder / name, make) for name, make in (*texts.items(), *wanted)]
        for number, job in enumerate(jobs, 1):
            job.result()
            if progress is not None:
                progress(number, len(jobs))
    store(folder / PAGE, page.encode())  # last: a page that opens has all of its files


def _page(contents: Contents, data: Data, plotted: bool, nonce: str) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(TEMPLATE).render(
        contents=contents, data=data.summary, nonce=nonce, scripts=SCRIPTS, styles=STYLES, count=len(contents.rows),
        plotly=f"assets/{PLOTLY}" if plotted else "",
    )


def _json(value: Any) -> str:
    """JSON that is safe in a script: ASCII, and nothing in it ends the script or begins a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _given(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def _plotly() -> Path:
    """The script of the plots, in the installed package."""
    spec = find_spec("plotly")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "package_data", PLOTLY)


def _put(place: Path, make: Callable[[], Path | bytes | None]) -> None:
    found = make()
    if isinstance(found, bytes):
        store(place, found)
    elif found is not None and found.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        _link(found, place)


def _link(source: Path, place: Path) -> None:
    """A second name for a picture, which costs no room; a copy of what is elsewhere."""
    if source.suffix == ".png":
        with contextlib.suppress(OSError):
            os.link(source, place)
            return
    shutil.copyfile(source, place)


__all__ = ["PLOTLY", "missing", "write_folder"]


def __dir__() -> list[str]:
    return [*__all__]
