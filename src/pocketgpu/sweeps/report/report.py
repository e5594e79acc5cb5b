"""Writes the report of a sweep.

    write_report(Path("results/report"), Store.read(Path("results")))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.baseline.comparison import Comparison
from pocketgpu.sweeps.baseline.pixels import picture_path
from pocketgpu.sweeps.model.rows import Times
from pocketgpu.sweeps.report.commands import choices, quoted, sweep_command
from pocketgpu.sweeps.report.contents import Contents, Source
from pocketgpu.sweeps.report.files import missing, write_folder
from pocketgpu.sweeps.results.store import Store
from pocketgpu.wording import counted

LIST: Final = "captures.txt"
AGAIN: Final = "-again"
"""What the folder of the same sweep is called, after the name of this one."""
_MOST_WORDS: Final = 4
"""Captures up to which the command names them itself."""
_MOST_WORKERS: Final = 8


def write_report(
    folder: Path, store: Store, comparison: Comparison | None = None, *, command: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Path:  # fmt: skip
    """Write the report of a sweep into a folder; returns its page.

    comparison: with a baseline, whose folder must still be there. command: what made the sweep, as words of a shell; if
    it is not given, a command that sweeps the same captures.

    :raises UsageError: what it needs is not installed, or the folder cannot be written.
    """
    if lacking := missing():
        hint = "pip install 'pocketgpu[sweep]' installs what it needs, or use --no-report."
        raise UsageError(f"a report needs {' and '.join(lacking)}", hint=hint)
    contents = contents_of(store, comparison, folder, command)
    names = "".join(f"{row.capture}\n" for row in contents.rows if _is_a_line(row.capture))
    try:
        write_folder(folder, contents, {LIST: names.encode("utf-8", "surrogateescape")}, progress)
    except OSError as error:
        what = f"cannot write the report: {error.strerror or error}"
        raise UsageError(what, location=str(folder), hint="Make room, or choose another folder.") from error
    return folder / "index.html"


def contents_of(store: Store, comparison: Comparison | None, folder: Path, command: str = "") -> Contents:
    """What the report of a sweep shows."""
    rows = [store.rows[name] for name in sorted(store.rows)]
    what = store.what
    patterns = " ".join(quoted(row.capture) for row in rows)
    if len(rows) > _MOST_WORDS:
        patterns = quoted(f"@{folder / LIST}")
    # The folder of this one is full.
    again, baseline = f"{store.folder}{AGAIN}", "" if comparison is None else str(comparison.baseline)
    version = str(store.about.get("version", ""))
    facts = [("version", version), ("work", what.work), *_facts(store.times)]
    facts += [(name, f"{value}") for name, value in what.switches.items()]
    if left := sum(not _is_a_line(row.capture) for row in rows):
        facts.append((f"not in {LIST}", f"{counted(left, 'capture')} with a line break in the name"))
    contents = Contents(
        f"{what.work} of {counted(len(rows), 'capture', form=',')}", rows, _source(store.folder),
        command=command or sweep_command(what, patterns, again, baseline), facts=facts, options=choices(what),
        times=store.times, versions=[(version, _milliseconds(store))],
    )  # fmt: skip
    if comparison is not None:
        before = Store.read(comparison.baseline)
        contents.changes = {one.capture: one for one in comparison.matched}
        contents.before = _source(comparison.baseline)
        contents.new, contents.missing = comparison.new, comparison.missing
        contents.remarks = comparison.remarks
        facts.insert(0, ("baseline", str(comparison.baseline)))
        if comparison.timed:
            facts.append(("time of all, to that of the baseline", f"{comparison.band.common:.3f}x"))
        # Two sweeps of one version are two columns all the same.
        old = str(before.about.get("version", ""))
        labels = ("baseline", "now") if old == version else (old, version)
        contents.versions = [(labels[0], _milliseconds(before)), (labels[1], _milliseconds(store))]
    return contents


def _is_a_line(name: str) -> bool:
    """Whether a list can name the capture."""
    return "\n" not in name and not name.endswith("\r")


def _source(folder: Path) -> Source:
    return lambda sha256: picture_path(folder, sha256)


def _milliseconds(store: Store) -> list[float]:
    return [sum(one.frames) for name, one in sorted(store.times.items()) if one.frames and name in store.rows]


def _facts(times: Mapping[str, Times]) -> list[tuple[str, str]]:
    """When and where it ran."""
    if not times:
        return []
    begun = sorted(one.started for one in times.values() if one.started)
    hosts = sorted({one.worker.partition("/")[0] for one in times.values() if one.worker})
    workers = {one.worker for one in times.values() if one.worker}
    found = [("work in all", f"{sum(one.seconds for one in times.values()):,.1f} s")]
    if begun:
        found.append(("begun", f"{begun[0]} to {begun[-1]}"))
    if workers:
        more = f" and {len(hosts) - _MOST_WORKERS} more" if len(hosts) > _MOST_WORKERS else ""
        found.append(("ran on", f"{counted(len(workers), 'worker')} of {', '.join(hosts[:_MOST_WORKERS])}{more}"))
    return found


__all__ = ["contents_of", "write_report"]


def __dir__() -> list[str]:
    return [*__all__]
