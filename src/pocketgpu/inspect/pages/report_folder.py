"""The report folder of a comparison of pictures: a page, a sheet for each finding, and candidates.

    index.html       all findings with their pictures inside
    TEST.png         one finding: ours, golden, difference
    candidates/      what was rendered, under the path of its golden, to be copied over the goldens
    outside/         the same for goldens that are not in the project

A file in the folder lists what a run wrote, so that the next run removes that and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from pocketgpu.inspect.pages.findings import OURS, Finding, page
from pocketgpu.inspect.pictures.comparing import as_pixels, sheet, to_png

PAGE = "index.html"
CANDIDATES = "candidates"
OUTSIDE = "outside"
MANIFEST = ".pocketgpu-report"

_LONGEST = 120
"""Most characters of a file's name, with some room below the 255 bytes that file systems take."""


def write_report(folder: Path, findings: Sequence[Finding], hint: str = "") -> dict[int, Path]:
    """Remove the report of the previous run, and write one if there are findings; hint: what to do about them.

    Returns the path of the sheet of each finding that has pictures, by its index. Raises OSError if the folder cannot
    be written.
    """
    clear(folder)
    sheets: dict[int, Path] = {}
    if not findings:
        return sheets
    files: dict[str, bytes] = {}
    for index, found in enumerate(findings):
        if found.pictures:
            name = _file_name(found, files)
            files[name] = _sheet(found)
            sheets[index] = folder / name
        golden = PurePosixPath(found.golden)
        ours = found.picture(OURS)
        if golden.suffix.lower() == ".png" and ours is not None:
            place = f"{CANDIDATES}/{found.golden}"
            if Path(found.golden).is_absolute() or ".." in golden.parts:
                # Its golden is outside of the project: a copy in candidates/ could replace another golden.
                place = f"{OUTSIDE}/{golden.name}"
                if place in files:
                    place = f"{OUTSIDE}/{hashlib.sha256(found.golden.encode()).hexdigest()[:8]}-{golden.name}"
            files[place] = ours
    title = "1 picture is not as expected" if len(findings) == 1 else f"{len(findings)} pictures are not as expected"
    files[PAGE] = page(findings, title, hint).encode()
    begin(folder, files)
    for name, data in files.items():
        store(folder / name, data)
    return sheets


def begin(folder: Path, names: Iterable[str]) -> None:
    """Begin a report with files of these names: remove those of the previous one that have other names.

    The list is written before the files, so that files of a killed run are removed, too.
    """
    kept = list(names)
    clear(folder, kept)
    store(folder / MANIFEST, "".join(f"{name}\n" for name in kept).encode())


def clear(folder: Path, but: Iterable[str] = ()) -> None:
    """Remove what `write_report` wrote there, and nothing else."""
    manifest = folder / MANIFEST
    try:
        names = manifest.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for name in set(names).difference(but):
        path = PurePosixPath(name)
        if name and not Path(name).is_absolute() and ".." not in path.parts:
            with contextlib.suppress(OSError):
                Path(folder, path).unlink(missing_ok=True)
    manifest.unlink(missing_ok=True)


def store(path: Path, data: bytes) -> None:
    """Write a file atomically, with its folders; other processes may write the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{hashlib.sha256(path.name.encode()).hexdigest()[:16]}.{os.getpid()}.part")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _sheet(found: Finding) -> bytes:
    from PIL import Image

    return to_png(sheet([(name, as_pixels(Image.open(io.BytesIO(png)))) for name, png in found.pictures]))


def _file_name(found: Finding, taken: dict[str, bytes]) -> str:
    """A unique file name for the sheet of a finding, with the name of its test."""
    golden = PurePosixPath(found.golden).stem
    whole = found.test if found.test.endswith(f" {golden}") else f"{found.test}.{golden}"
    name = re.sub(r"[^\w.-]+", "-", whole, flags=re.ASCII).strip("-.")
    if len(name) > _LONGEST or any(other.lower() == f"{name}.png".lower() for other in taken):
        digest = hashlib.sha256(f"{len(taken)} {whole}".encode()).hexdigest()[:8]
        name = f"{name[: _LONGEST - 20]}-{digest}"
    return f"{name}.png"


__all__ = ["CANDIDATES", "MANIFEST", "OUTSIDE", "PAGE", "begin", "clear", "store", "write_report"]
