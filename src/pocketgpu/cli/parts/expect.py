"""`pocketgpu render --expect DIR`: compares every picture with the golden of the same name in a folder.

`render --out` makes a folder of goldens. Frames that have a golden there are compared, or those of --frames. Each of
their screens needs a golden, and each of their goldens needs a screen. Goldens of another --layout are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocketgpu.cli.parts.junit import Case, junit
from pocketgpu.cli.parts.options import FrameSpan
from pocketgpu.cli.parts.replay import Shown, write_file
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.pages.findings import Finding

_GOLDEN = re.compile(r"f(0|[1-9][0-9]{0,8})\.([\w-]+)\.png", re.ASCII)
_COMPOSED = ("stereo", "both")
"""Values of --layout that are not names of screens."""
_HINT = "If these are right: copy what is in candidates/ over the goldens, or render with --out into their folder."


class Expected:
    """Goldens of a folder, and the result of each comparison.

    Raises UsageError for a folder that is missing or has no golden.
    """

    def __init__(
        self, folder: str, tolerance: int = 0, span: FrameSpan | None = None, layout: str | None = None
    ) -> None:
        self.folder = folder
        self.tolerance = tolerance
        self.cases: list[Case] = []
        self._findings: list[tuple[int, Finding]] = []  # with the index of the case
        self._span = span
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise UsageError(
                f"cannot read the folder of goldens: {error.strerror or error}",
                location=folder,
                hint="Make one with --out DIR in the place of --expect.",
            ) from error
        found = [(match, name) for name in names if (match := _GOLDEN.fullmatch(name))]
        self._goldens = {
            (int(match[1]), match[2]): name
            for match, name in found
            if self._in_span(int(match[1])) and (match[2] == layout if layout else match[2] not in _COMPOSED)
        }
        if not self._goldens and span is None:
            raise UsageError(
                "the folder has no goldens: f0.top.png and so on",
                location=folder,
                hint="Make them with --out DIR in the place of --expect.",
            )
        self._left = set(self._goldens)

    @property
    def span(self) -> FrameSpan:
        """The frames to render: those of --frames, or up to the last that has a golden."""
        return self._span or FrameSpan(0, max(index for index, _ in self._goldens))

    @property
    def failed(self) -> int:
        """How many pictures are not as expected."""
        return sum(case.wrong is not None for case in self.cases)

    def _in_span(self, index: int) -> bool:
        span = self._span
        return span is None or (span.first <= index and (span.last is None or index <= span.last))

    def wants(self, index: int) -> bool:
        """Whether a frame's pictures have to be compared."""
        return self._span is not None or any(frame == index for frame, _ in self._goldens)

    def check(
        self, capture: str, index: int, screens: Mapping[str, Shown], seconds: float
    ) -> dict[str, dict[str, Any]]:
        """Compare the pictures of a frame with their goldens; returns the JSON data of each screen."""
        found: dict[str, dict[str, Any]] = {}
        for screen in sorted({*screens, *(name for frame, name in self._goldens if frame == index)}):
            self._left.discard((index, screen))
            found[screen] = self._check(capture, index, screen, screens.get(screen), seconds)
            seconds = 0.0  # the time is that of the frame, so only its first picture has it
        return found

    def _check(self, capture: str, index: int, screen: str, shown: Shown | None, seconds: float) -> dict[str, Any]:
        from pocketgpu.inspect.pages.findings import GOLDEN, OURS, Finding, hold, measures
        from pocketgpu.inspect.pictures.comparing import as_pixels, read_picture, to_png

        name = f"f{index}.{screen}"
        group = Path(capture).name
        file = self._goldens.get((index, screen))
        facts: tuple[tuple[str, str], ...] = (("capture", capture), ("frame", f"f{index}"), ("screen", screen))
        pictures: tuple[tuple[str, bytes], ...] = ()
        entry: dict[str, Any] = {"file": None if file is None else str(Path(self.folder, file)), "same": False}
        wrong: str | None
        try:
            golden = None if file is None else read_picture(Path(self.folder, file))
            wrong = f"{name} has no golden in {self.folder}"
        except UsageError as error:
            golden, wrong = None, f"{name} has no golden to compare with: {error}"
        if shown is None:
            wrong = f"{name} shows nothing, and there is a golden"
            pictures = () if golden is None else ((GOLDEN, to_png(golden)),)
        elif golden is None:
            pictures = ((OURS, to_png(as_pixels(shown))),)
        else:
            found, pictures = hold(as_pixels(shown), golden, self.tolerance)
            wrong = None if found.same else f"{name} is not its golden: {found}"
            entry |= {"same": found.same, "differing": found.differing, "largest": found.largest}
            facts += measures(found)
        if wrong is not None:
            finding = Finding(f"{group} {name}", file or f"{name}.png", wrong, facts, pictures)
            self._findings.append((len(self.cases), finding))
        details = "\n".join(f"{fact}: {value}" for fact, value in facts)
        self.cases.append(Case(group, name, seconds, wrong, f"{wrong}\n{details}" if wrong else ""))
        return entry

    def fail(self, capture: str, wrong: str, details: str) -> None:
        """Note a failure that is not about a picture, such as the fault of a program."""
        self.cases.append(Case(Path(capture).name, "run", 0.0, wrong, details))

    def finish(self, capture: str, count: int) -> None:
        """Goldens of missing frames are findings, too; count: how many frames the capture has."""
        for index, screen in sorted(self._left):
            frames = f"the capture has {counted(count, 'frame')}, f0 to f{count - 1}" if count else "there is no frame"
            text = f"f{index}.{screen} is missing: {frames}"
            self.cases.append(Case(Path(capture).name, f"f{index}.{screen}", 0.0, text))
        self._left.clear()

    def stop(self, capture: str, error: PocketGPUError) -> None:
        """Note an error that ends the rendering, so that CI shows it."""
        self.cases.append(Case(Path(capture).name, "render", 0.0, error.message, str(error), kind="error"))

    def write(self, junit_file: str | None, report: str | None, capture: str, command: str = "render") -> None:
        """Write the JUnit file and the report, if requested. command: what made the pictures."""
        from pocketgpu.sweeps.report.findings import write_report

        cases = list(self.cases)
        if report is not None:
            try:
                findings = [finding for _, finding in self._findings]
                sheets = write_report(Path(report), findings, _HINT, noun="picture")
            except OSError as error:
                what = f"cannot write the report: {error.strerror or error}"
                raise UsageError(what, location=report, hint="Choose another place with --report.") from error
            for finding, path in sheets.items():
                number = self._findings[finding][0]
                cases[number] = replace(cases[number], attachment=str(path))
        if junit_file is not None:
            write_file(Path(junit_file), junit(f"pocketgpu {command} {Path(capture).name}", cases), "--junit")

    def to_dict(self) -> dict[str, Any]:
        """The JSON data of the whole comparison."""
        failures = [{"name": case.name, "message": case.wrong} for case in self.cases if case.wrong is not None]
        return {
            "folder": self.folder,
            "tolerance": self.tolerance,
            "compared": len(self.cases),
            "failed": self.failed,
            "failures": failures,
        }

    def summary(self, report: str | None) -> list[str]:
        """Lines for people."""
        wrong = [case.wrong for case in self.cases if case.wrong is not None]
        noun = "picture" if len(self.cases) == 1 else "pictures"
        verdict = f"{len(wrong)} not as expected" if wrong else "all the same"
        lines = [f"{len(self.cases)} {noun} compared with {self.folder}: {verdict}"]
        lines += [f"  {text}" for text in wrong[:16]]
        if len(wrong) > 16:
            lines.append(f"  ... {len(wrong) - 16} more, all of them with --json")
        if wrong and report is not None and Path(report, "index.html").exists():
            lines.append(f"report: {Path(report, 'index.html')}")
        return lines
