"""The folder of a report: what is in it, what is kept, and that texts of captures are texts there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support.house import ROOT
from support.sweeps import Made, event, finding, painted, sweep_of

from pocketgpu.errors import UsageError
from pocketgpu.inspect.pages.findings import Finding, hold, measures
from pocketgpu.sweeps.baseline.compare import compare
from pocketgpu.sweeps.model.rows import Picture, Row
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.report import files, findings, shown
from pocketgpu.sweeps.report.commands import file_word, is_address, quoted, sweep_command
from pocketgpu.sweeps.report.contents import Contents, no_pictures
from pocketgpu.sweeps.report.report import write_report
from pocketgpu.sweeps.results.store import Store

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
HOSTILE = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\x1b[31m\u202e{{7*7}}", "'\"`$(x)&amp;",
)  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def page_data(folder: Path) -> Any:
    text = (folder / "index.html").read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def details(folder: Path) -> list[dict[str, Any]]:
    """The details of all rows, as the page gets them."""
    out: list[dict[str, Any]] = []
    for number in range(len(list((folder / "rows").iterdir()))):
        text = (folder / "rows" / f"{number}.js").read_text("ascii")
        assert text.startswith(f"report.arrived({number}, ") and text.endswith(");\n")
        out += json.loads(text[text.index("[") : -3])
    return out


def two(folder: Path, name: str = "scene.pgc", text: str = "plain") -> tuple[Store, Store]:
    """A sweep and its baseline: one picture of two changed."""
    before, after = painted(2), painted(2)
    after[3, 4] ^= 9
    note = finding(text, text, text)
    old = sweep_of(folder / "old", [{"capture": name, "pictures": {"f0/top": painted(1), "f1/top": before}}])
    new = Made(folder / "new")
    new.add(
        name, {"f0/top": painted(1), "f1/top": after}, [1.0, 2.0], findings=(note,), events=(event(text, text),),
        features=(text,), counts={text: 1}, detail={text: [text]}, message=text, hint=text, location=text,
    )  # fmt: skip
    return new.done(), old


def test_a_report_has_all_files_and_no_others(tmp_path: Path) -> None:
    new, old = two(tmp_path)
    page = write_report(tmp_path / "r", new, compare(new, old))
    places = {path.relative_to(tmp_path / "r").as_posix() for path in (tmp_path / "r").rglob("*") if path.is_file()}
    listed = set((tmp_path / "r" / ".pocketgpu-report").read_text().splitlines()) | {".pocketgpu-report"}
    assert places == listed and page == tmp_path / "r" / "index.html"
    assert len([one for one in places if one.startswith("pictures/")]) == 3  # equal ones once
    assert len([one for one in places if one.startswith("differences/")]) == 1
    (row,) = details(tmp_path / "r")
    same, changed = row["pictures"]
    assert same["at"] == "f0/top" and "change" not in same
    assert changed["text"] == "f1/top 1 of 960 pixels differ, by 9 at most"
    assert (tmp_path / "r" / changed["difference"]).is_file()
    for tag, attributes in Tags(page.read_text("utf-8")).found:
        for name in ("src", "href"):
            if attributes.get(name):
                assert (tmp_path / "r" / str(attributes[name])).is_file(), (tag, attributes)


def fields(interface: str) -> tuple[set[str], set[str]]:
    """The fields that a type of the scripts has, and those of them that may be missing."""
    text = (ROOT / "viewer" / "report.d.ts").read_text("utf-8")
    found = re.search(rf"^interface {interface} {{$(.*?)^}}$", text, re.DOTALL | re.MULTILINE)
    assert found
    names = re.findall(r"^  (\w+)(\??):", found[1], re.MULTILINE)
    return {name for name, _ in names}, {name for name, optional in names if optional}


def test_the_types_of_the_scripts_are_those_of_the_data(tmp_path: Path) -> None:
    new, old = two(tmp_path)
    write_report(tmp_path / "r", new, compare(new, old))
    data, (row,) = page_data(tmp_path / "r"), details(tmp_path / "r")
    for interface, found in (
        ("Data", [data]), ("Columns", [data["rows"]]), ("Rule", data["rules"]), ("Details", [row]),
        ("Shown", row["pictures"]), ("Notes", [row["findings"], row["events"]]),
    ):  # fmt: skip
        every, optional = fields(interface)
        assert found and set().union(*found) == every, interface
        assert all(every - optional <= one.keys() for one in found), interface


def test_pictures_are_kept_and_what_is_old_goes(tmp_path: Path) -> None:
    new, _ = two(tmp_path)
    write_report(tmp_path / "r", new)
    (tmp_path / "r" / "mine.txt").write_text("mine")
    kept = next((tmp_path / "r" / "thumbnails").rglob("*.*"))
    time = kept.stat().st_mtime_ns
    write_report(tmp_path / "r", new)
    assert kept.stat().st_mtime_ns == time
    other = sweep_of(tmp_path / "other", [{"capture": "x", "pictures": {"f0/top": painted(9)}}])
    write_report(tmp_path / "r", other)
    assert not kept.exists() and (tmp_path / "r" / "mine.txt").exists()
    assert len([path for path in (tmp_path / "r" / "pictures").rglob("*.png")]) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_captures_are_texts(tmp_path: Path, text: str) -> None:
    new, old = two(tmp_path, f"a/{text}/x.pgc", text)
    quiet, _ = two(tmp_path / "quiet")
    write_report(tmp_path / "r", new, compare(new, old))
    write_report(tmp_path / "q", quiet)
    whole, plain = (Tags((tmp_path / one / "index.html").read_text("utf-8")).found for one in ("r", "q"))
    assert [tag for tag, _ in whole if tag in ("script", "img", "style", "a")] == ["script"] * (1 + len(files.SCRIPTS))
    assert {tag for tag, _ in whole} <= {tag for tag, _ in plain} | {"ul", "li"}
    nonces = {attributes.get("nonce") for tag, attributes in whole if tag in ("script", "link")}
    assert len(nonces) == 1 and nonces != {attributes.get("nonce") for tag, attributes in plain if tag == "script"}
    policy = next(attributes["content"] for _, attributes in whole if attributes.get("http-equiv"))
    assert policy and "unsafe" not in policy and policy.startswith("default-src 'none'")
    assert page_data(tmp_path / "r")["rows"]["capture"] == [f"a/{text}/x.pgc"]
    assert details(tmp_path / "r")[0]["findings"]["shown"][0][2:5] == [text, text, False]
    for path in (tmp_path / "r" / "rows").iterdir():
        assert not set("<>&") & set(path.read_text("ascii"))
    for path in (tmp_path / "r").rglob("*"):
        assert re.fullmatch(r"[\w.-]+", path.name, re.ASCII)


@given(st.text(max_size=30))
def test_a_word_of_the_shell_is_the_name(text: str) -> None:
    word = quoted(text)
    assert word.isprintable()
    if text.isprintable():
        assert shlex.split(word) == [text]


@pytest.mark.parametrize("name", ["a b", "-x", "new\nline", "it's\x1b[201~\\", "$(rm)", "\u202eabc", "é\x07"])
def test_bash_gets_the_name(name: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf %s {file_word(name)}"], capture_output=True, check=True)
    assert done.stdout.decode() == (f"./{name}" if name.startswith("-") else name)


def test_addresses_and_commands() -> None:
    assert all(map(is_address, ("f0", "f3/d17", "f1/px200,120", "f1/bottom/px10,20", "f1/e9/b0,1,0/t3,0,0")))
    assert not any(map(is_address, ("", "x", "f0; rm", "f0/$(x)", "f0\n", None, "f0/<b>")))
    what = What("render", switches={"a": "b c"}, frames=(2, None))
    assert sweep_command(what, "'x y'", "o") == "pocketgpu sweep 'x y' --do render --set 'a=b c' --frames 2- --out o"
    assert sweep_command(What("check"), "x", "-o", "old one").endswith("--do check --baseline 'old one' --out ./-o")


def test_the_command_names_a_list_of_many_captures(tmp_path: Path) -> None:
    names = [f"c {index}.pgc" for index in range(9)]
    write_report(tmp_path / "r", sweep_of(tmp_path / "a", [{"capture": name} for name in names], "check"))
    assert (tmp_path / "r" / "captures.txt").read_text().splitlines() == names
    text = (tmp_path / "r" / "index.html").read_text("utf-8")
    assert f"pocketgpu sweep @{tmp_path}/r/captures.txt --do check --out {tmp_path}/a-again" in text


def test_what_is_shown_is_bounded(tmp_path: Path) -> None:
    pictures = {f"f{frame}/top": painted(frame, 8, 8) for frame in range(100)}
    changed = {place: pixels ^ (1 if int(place[1:].split("/")[0]) % 2 else 0) for place, pixels in pictures.items()}
    old = sweep_of(tmp_path / "a", [{"capture": "x", "pictures": pictures}])
    notes = tuple(finding("r", f"m{index}") for index in range(500))
    row = {"capture": "x", "pictures": changed, "findings": notes, "detail": {"t": "x" * 9999}}
    new = sweep_of(tmp_path / "b", [row])
    write_report(tmp_path / "r", new, compare(new, old))
    (row,) = details(tmp_path / "r")
    assert len(row["pictures"]) == shown.MOST_CHANGED and row["left"] == 100 - shown.MOST_CHANGED
    assert len(row["findings"]["shown"]) == 200 and row["findings"]["left"] == 300 and len(row["details"][0][1]) == 2000
    write_report(tmp_path / "r", new)
    (row,) = details(tmp_path / "r")
    frames = [one["at"] for one in row["pictures"]]
    assert len(frames) == shown.MOST_SHOWN and frames[0] == "f0/top" and frames[-1] == "f99/top"


def test_pictures_that_are_missing_or_damaged_do_no_harm(tmp_path: Path) -> None:
    new, old = two(tmp_path)
    comparison = compare(new, old)
    for number, path in enumerate(sorted((tmp_path / "new").rglob("*.png"))):
        path.unlink() if number else path.write_bytes(b"\x89PNG broken")
    write_report(tmp_path / "r", new, comparison)
    assert len(details(tmp_path / "r")) == 1


def test_thumbnails_are_small(tmp_path: Path) -> None:
    rows = [{"capture": "x", "pictures": {"f0/s": painted(3, 640, 360)}}]
    write_report(tmp_path / "r", sweep_of(tmp_path / "a", rows))
    (place,) = page_data(tmp_path / "r")["rows"]["thumbnail"]
    with Image.open(tmp_path / "r" / place) as image:
        assert image.size == (160, 90)


def test_what_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "NEEDED", ("jinja2", "not_there"))
    with pytest.raises(UsageError, match="a report needs not_there"):
        write_report(tmp_path / "r", sweep_of(tmp_path / "a", []))


def test_findings_of_tests_are_rows(tmp_path: Path) -> None:
    ours, golden = (np.dstack([painted(seed), np.full((24, 40), 255, np.uint8)]) for seed in (1, 2))
    found, pictures = hold(ours, golden, 0)
    facts = (("capture", "scene.pgc"), ("frame", "f7"), ("screen", "bottom"), ("warning", "one"), ("warning", "two"))
    every = [Finding("t::one", "g/f7.png", "differs", facts + measures(found), pictures) for _ in range(2)]
    every.append(Finding("t::two", "g/x.png", "there is no golden", (), pictures[:1]))
    sheets = findings.write_report(tmp_path / "r", every, "Copy them.", command="pytest -q")
    assert len(sheets) == 3 and all(path.is_file() for path in sheets.values())
    data = page_data(tmp_path / "r")
    assert data["rows"]["capture"] == ["t::one", "t::one (2)", "t::two"] and data["labels"] == ["golden", "ours"]
    row, _, last = details(tmp_path / "r")
    assert row["file"] == "scene.pgc" and row["pictures"][0]["at"] == "f7/bottom"
    assert row["pictures"][0]["text"].startswith("f7/bottom 960 of 960 pixels differ")
    assert ["warning", "one\ntwo"] in row["details"]
    assert last["pictures"][0]["change"] == "new" and (tmp_path / "r" / "candidates" / "g" / "f7.png").is_file()
    assert not (tmp_path / "r" / "assets" / "plotly.min.js").exists()  # there is nothing to plot
    assert findings.write_report(tmp_path / "r", []) == {}
    assert [path for path in (tmp_path / "r").rglob("*") if path.is_file()] == []


def test_the_main_screen_comes_first_and_stands_for_its_row() -> None:
    pictures = tuple(
        Picture(frame, screen, 400, 240, f"{frame}{number}" * 32)
        for frame in range(3) for number, screen in enumerate(("top", "bottom"))
    )  # fmt: skip
    row = Row("a.pgc", "k", "render", "done", pictures=pictures)
    found, left = shown.Pictures(Contents("", [row], no_pictures)).of(row, None)
    assert [one.picture for one in found] == list(pictures) and left == 0
    chosen = shown.thumbnail_of(found)
    assert chosen is not None and chosen.address == "f1/top"
