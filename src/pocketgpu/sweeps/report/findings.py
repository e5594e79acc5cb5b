"""The report of pictures that are not as expected: of a run of pytest, or of `render --expect`.

It is the page of sweeps if what that needs is installed, else a plain one. Both have the same sheets and candidates.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pocketgpu.inspect.pages import report_folder
from pocketgpu.inspect.pages.findings import GOLDEN, OURS, Finding
from pocketgpu.inspect.pictures.comparing import as_pixels, compare
from pocketgpu.sweeps.baseline.changes import Change, PictureChange
from pocketgpu.sweeps.model.rows import Picture, Row
from pocketgpu.sweeps.report.contents import FILE, Contents
from pocketgpu.sweeps.report.files import missing, write_folder

MORE: Final = "With 'pip install pocketgpu[sweep]' this page has filters, and a slider between the pictures."
_FRAME: Final = re.compile(r"f(\d{1,9})")
_SCREEN: Final = re.compile(r"[a-z][a-z-]{0,20}")
_SHOWN: Final = ("capture", "frame", "screen")
"""Facts that a row has fields for."""


def write_report(
    folder: Path, findings: Sequence[Finding], hint: str = "", *, noun: str = "test", command: str = ""
) -> dict[int, Path]:
    """Remove the report of the previous run, and write one if there are findings; hint: what to do about them. noun:
    what a finding is about. command: what was run.

    Returns the path of the sheet of each finding that has pictures, by its index.

    :raises OSError: the folder cannot be written.
    """
    if not findings or missing():
        return report_folder.write_report(folder, findings, f"{hint} {MORE}".strip())
    files, sheets = report_folder.files_of(folder, findings)
    write_folder(folder, contents_of(findings, hint, noun, command), files)
    return sheets


def contents_of(findings: Sequence[Finding], hint: str, noun: str, command: str) -> Contents:
    """Findings as rows and changes."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    changes: dict[str, Change] = {}
    for finding in findings:
        name, number = finding.test, 2
        while name in changes:
            name, number = f"{finding.test} ({number})", number + 1
        changes[name] = _change(name, finding, before, after)
    return Contents(
        report_folder.title_of(findings), [one.row for one in changes.values()], after.get, noun=noun, command=command,
        hint=hint, changes=changes, before=before.get, before_label="golden", after_label="ours",
    )  # fmt: skip


def _change(name: str, finding: Finding, before: dict[str, bytes], after: dict[str, bytes]) -> Change:
    facts = dict(finding.facts)
    number = _FRAME.fullmatch(facts.get("frame", ""))
    frame = int(number[1]) if number else 0
    screen = facts.get("screen", "")
    screen = screen if _SCREEN.fullmatch(screen) else "screen"
    ours, golden = (_picture(finding.picture(side), frame, screen, kept)
                    for side, kept in ((OURS, after), (GOLDEN, before)))  # fmt: skip
    note = {"rule": "picture", "severity": "error", "message": finding.message, "at": f"f{frame}", "count": 1}
    detail: dict[str, object] = {"golden": finding.golden}
    for key, value in finding.facts:  # warnings may be there several times
        if key not in _SHOWN:
            detail[key] = f"{detail[key]}\n{value}" if key in detail else value
    if "capture" in facts:
        detail[FILE] = facts["capture"]
    pictures = () if ours is None else (ours,)
    row = Row(name, "", "pictures", "done", frames=1, pictures=pictures, findings=(note,), detail=detail)
    old = Row(name, "", "pictures", "done", frames=1, pictures=() if golden is None else (golden,))
    if ours is None and golden is None:
        return Change(row, old)
    return Change(row, old, (_counted(PictureChange(golden, ours), finding),))


def _picture(png: bytes | None, frame: int, screen: str, kept: dict[str, bytes]) -> Picture | None:
    """A picture of one side. It is named by its file, as rows name theirs by their pixels."""
    from PIL import Image

    if png is None:
        return None
    digest = hashlib.sha256(png).hexdigest()
    kept[digest] = png
    with Image.open(io.BytesIO(png)) as image:
        return Picture(frame, screen, image.width, image.height, digest)


def _counted(change: PictureChange, finding: Finding) -> PictureChange:
    from PIL import Image

    ours, golden = finding.picture(OURS), finding.picture(GOLDEN)
    if ours is None or golden is None:
        return change
    with Image.open(io.BytesIO(ours)) as one, Image.open(io.BytesIO(golden)) as other:
        found = compare(as_pixels(one), as_pixels(other))
    if found.size != found.golden_size:
        sizes = ["x".join(map(str, size)) for size in (found.golden_size, found.size)]
        return PictureChange(change.before, change.after, problem=" -> ".join(sizes))
    return PictureChange(change.before, change.after, found.differing, found.pixels, found.largest, found.box)


__all__ = ["MORE", "contents_of", "write_report"]


def __dir__() -> list[str]:
    return [*__all__]
