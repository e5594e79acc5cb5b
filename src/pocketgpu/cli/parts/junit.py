"""Results as a JUnit file, which CI services show as a list of tests. It has only parts that all of them support."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pocketgpu.late_dataclass import dataclass

_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters that XML 1.0 (section 2.2, Char) cannot contain, such as control characters in file names."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its group and name, what is wrong (None: nothing), in one line and at length, and how long it took.

    kind: "failure" for a result that is wrong, "error" for one that could not be had. attachment: a file that shows it.
    """

    group: str
    name: str
    seconds: float = 0.0
    wrong: str | None = None
    details: str = ""
    kind: str = "failure"
    attachment: str | None = None


def junit(suite: str, cases: Sequence[Case]) -> bytes:
    """The XML file of one suite, in UTF-8."""
    from xml.etree import ElementTree  # most runs write none

    count = {kind: sum(case.wrong is not None and case.kind == kind for case in cases) for kind in ("failure", "error")}
    numbers = {"tests": str(len(cases)), "failures": str(count["failure"]), "errors": str(count["error"])}
    seconds = f"{sum(case.seconds for case in cases):.6f}"
    root = ElementTree.Element("testsuites", numbers)
    group = ElementTree.SubElement(
        root, "testsuite", {"name": _text(suite), **numbers, "skipped": "0", "time": seconds}
    )
    for case in cases:
        words = {"classname": _text(case.group), "name": _text(case.name), "time": f"{case.seconds:.6f}"}
        entry = ElementTree.SubElement(group, "testcase", words)
        if case.wrong is not None:
            wrong = ElementTree.SubElement(entry, case.kind, {"message": _text(case.wrong)})
            wrong.text = _text(case.details or case.wrong)
        if case.attachment is not None:
            # The form that GitLab and Jenkins look for.
            ElementTree.SubElement(entry, "system-out").text = _text(f"[[ATTACHMENT|{case.attachment}]]")
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _text(words: str) -> str:
    return re.sub(_ILLEGAL, "?", words)


__all__ = ["Case", "junit"]
