"""The list of rules, the page that shows it, and the command."""

from __future__ import annotations

import importlib
import json
import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support import recordings
from support.strict_scenes import Scene

import pocketgpu
from pocketgpu.builder import CaptureBuilder
from pocketgpu.cli import main
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.inspect.model.rules import CONFIDENCES, SEVERITIES, Found, Rule
from pocketgpu.inspect.rules import n3ds, switch
from pocketgpu.inspect.rules.checker import MOST_FINDINGS, Report, check, choose
from pocketgpu.inspect.rules.registry import RULES, rule

ROOT = Path(__file__).resolve().parents[4]
CAPTURES = recordings.folder() / "captures"


def test_rules_say_all_that_they_must() -> None:
    assert sum(one.console == "3DS" for one in RULES) >= 20 and sum(one.console == "Switch" for one in RULES) >= 6
    assert {one.confidence for one in RULES} == set(CONFIDENCES)
    for one in RULES:
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)?", one.id) and rule(one.id) is one
        assert one.severity in SEVERITIES and one.title and one.source
        assert one.title[0].islower() or not one.title[1].islower()  # a clause, unless it begins with a name
        assert one.explanation.endswith(".") and one.hint.endswith("."), one.id


def test_each_rule_of_each_topic_is_listed_once() -> None:
    helpers = {"__init__", "watch", "record", "memory_map"}
    written = []
    for package in (n3ds, switch):
        folder = Path(package.__file__ or "").parent
        for path in folder.glob("*.py"):
            if path.stem not in helpers:
                module = importlib.import_module(f"pocketgpu.inspect.rules.{folder.name}.{path.stem}")
                written += [one.id for one in getattr(module, "RULES", ())]
    assert sorted(written) == sorted(one.id for one in RULES) and len(written) == len(set(written))


def test_the_page_lists_the_rules() -> None:
    generator = runpy.run_path(str(ROOT / "docs" / "generate_rules.py"))
    text = generator["PAGE"].read_text(encoding="utf-8")
    assert generator["page"](text) == text, "run docs/generate_rules.py"
    assert all(f"`{one.id}`" in text for one in RULES)


def test_rules_are_chosen_by_id_and_group() -> None:
    assert [one.id for one in choose(RULES, ["list.size"])] == ["list.size"]
    lists = {one.id for one in choose(RULES, ["list.*"], ["list.size"])}
    assert "list.endless" in lists and "list.size" not in lists and all(id.startswith("list.") for id in lists)
    assert len(choose(RULES, (), ["doubt"])) == len(RULES) - 1
    with pytest.raises(UsageError, match="no rule 'nothing'"):
        choose(RULES, ["nothing"])


def made(look: object, severity: str = "warning") -> Rule:
    return Rule("a.rule", "a rule", "3DS", severity, "inferred", "", "", "", look)  # type: ignore[arg-type]


def test_the_same_finding_is_one_line_and_the_worst_comes_first() -> None:
    many = made(lambda record: [Found("again", "f1/d3"), Found("again", "f2/d3", 4), Found("other", "f0/d1")])
    error = made(lambda record: [Found("bad", "f9")], "error")
    report = check(Scene().capture(), [many, error])
    assert [str(one) for one in report.findings] == [
        "f9: bad  [a.rule]",
        "f0/d1: other  [a.rule]",
        "f1/d3: again, 5 times  [a.rule]",
    ]
    assert report.failed and report.counts() == {"error": 1, "warning": 2, "note": 0}
    flood = made(lambda record: [Found(f"number {n}", f"f{n}") for n in range(MOST_FINDINGS + 7)])
    report = check(Scene().capture(), [flood])
    assert len(report.findings) == MOST_FINDINGS + 1 and report.findings[-1].count == 7


def test_a_capture_of_nothing_is_an_error(tmp_path: Path) -> None:
    CaptureBuilder().save(tmp_path / "empty.ctf")
    with pytest.raises(NoPictureError):
        check(pocketgpu.open(tmp_path / "empty.ctf"))
    assert check(Scene(frames=0).capture()).rules  # it has work, which no frame shows


# -- the command ------------------------------------------------------------------------------------------------------
@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.ctf.xz"
    Scene(program=Scene.program.replace("        end\n", "")).build().save(path)
    return str(path)


def test_an_error_is_exit_code_1(broken: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["check", broken]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("error: f0/d0: the vertex program has no END") and "1 error" in lines[-1]
    assert main(["check", broken, "--skip", "shader.no-end", "--no-notes"]) == 0
    assert "nothing found" in capsys.readouterr().out
    path = tmp_path / "sound.ctf"
    Scene().build().save(path)
    assert main(["check", str(path)]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_json_and_junit(broken: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    junit = tmp_path / "results.xml"
    assert main(["check", broken, "--json", "--junit", str(junit), "--rule", "shader.*"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "pocketgpu.check/1" and document["counts"]["error"] == 1
    (finding,) = document["findings"]
    assert finding["rule"] == "shader.no-end" and finding["at"] == "f0/d0" and finding["source"]
    root = ElementTree.parse(junit).getroot()
    names = {case.get("name"): case.find("failure") is not None for case in root.iter("testcase")}
    assert names["shader.no-end"] and not names["shader.break"] and set(names) == set(document["rules"])


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(one.id in text for one in RULES)
    assert main(["check", "--list", "--json", "--rule", "list.size"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["rules"]
    assert listed["id"] == "list.size" and listed["confidence"] == "documented" and listed["explanation"]


def test_what_is_asked_wrongly(broken: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["check"]) == 2
    assert main(["check", broken, "--rule", "no.such"]) == 2
    assert "pocketgpu check --list" in capsys.readouterr().err
    assert main(["check", broken, "--junit", str(tmp_path / "no" / "such.xml")]) == 2
    assert main(["check", str(tmp_path / "nothing.ctf")]) == 3


# -- recordings of real programs --------------------------------------------------------------------------------------
_RECORDED = (
    "3ds/geoshader.ctf.xz", "3ds/hwtest_texcopy.ctf.xz", "3ds/proctex.ctf.xz", "3ds/fragment_light.gx.json.xz",
    "3ds/multiple_buf.gx.json.xz", "3ds/immediate.gx.json.xz", "switch/ex04_textured_cube_320x180.mxcap.zip",
    "switch/ex09_compute_320x180.mxcap.zip", "switch/mesa_texkinds_320x180.mxcap.zip",
)  # fmt: skip


@pytest.mark.skipif(not CAPTURES.is_dir(), reason=recordings.REASON)
@pytest.mark.parametrize("name", _RECORDED)
def test_recordings_of_programs_that_ran_have_no_errors(name: str) -> None:
    report: Report = check(pocketgpu.open(str(CAPTURES / name)))
    assert not report.failed, [str(one) for one in report.findings]


def test_the_samples_have_no_errors(sample_path: Path) -> None:
    if not sample_path.is_file():
        pytest.skip("the sample is not built")
    for path in (sample_path, sample_path.with_name("sample_switch.mxcap.zip")):
        assert not check(pocketgpu.open(str(path))).failed
