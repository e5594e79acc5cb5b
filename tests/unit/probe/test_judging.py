"""Verdicts: what agrees, what differs most, and answers that leave something open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from support.answers import DAY, answer_of, file_of

from pocketgpu.capture.formats.pgc.contents import FrameContents
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.capture.pgc import parse
from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import CHOICES, DEFAULTS
from pocketgpu.probe import judging
from pocketgpu.probe.evidence import COLUMNS, table
from pocketgpu.probe.judging import Verdict, contradictions, judge, judge_files, read_file
from pocketgpu.probe.making import digest, sent_of_scene
from pocketgpu.probe.scenes import SCENES


@pytest.mark.parametrize(
    "choice",
    [
        "external.hardware_id", "external.status", "external.core_reads", "fill.null_start", "transfer.zero_size",
        "test.order",
    ],
)  # fmt: skip
def test_registers_interrupts_and_memory_tell_the_values(choice: str) -> None:
    """Also those that need time or a new model, which programs do not have here."""
    for value in CHOICES[choice].values:
        verdict = judge(answer_of(choice, value))
        assert verdict.agree == (value,) and verdict.tells and not verdict.silent


def test_only_a_new_model_tells_its_number() -> None:
    verdict = judge(answer_of("external.hardware_id", "constant", model="old"))
    assert verdict.silent == "only a New 3DS tells" and not verdict.tells


def test_an_answer_that_nothing_agrees_with_names_the_nearest() -> None:
    choice = "test.order"
    answer = answer_of(choice, DEFAULTS[choice])
    key = max(answer.memory, key=lambda one: one[1])
    memory: Mapping[tuple[int, int], bytes] = {**answer.memory, key: b"\x01" + answer.memory[key][1:]}
    verdict = judge(replace(answer, memory=memory))
    assert not verdict.agree and not verdict.tells and verdict.nearest == DEFAULTS[choice]
    assert verdict.differing and verdict.differing[verdict.nearest] == (f"1 of {key[1]:,} bytes at {key[0]:#x}",)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"end": "no answer"}, "no answer"),
        ({"end": "refused: it is cut"}, "refused: it is cut"),
        ({"end": ""}, "does not say how it ended"),
        ({"digest": "0" * 64}, "another version of the scene"),
        ({"memory": {}}, "does not have all"),
        ({"choice": ""}, "a picture of a recording"),
        ({"choice": "", "end": "refused: a file for another console"}, "refused: a file for another console"),
        ({"choice": "texture.filter"}, "a what-if"),
        ({"choice": "texture.fraction"}, "a 3DS answered, and the choice is of a Switch"),
        ({"choice": "nonsense"}, "'nonsense' is no choice"),
        ({"choice": "guest.exceptions"}, "no choice that has a scene"),
    ],
)
def test_answers_that_say_nothing(changes: dict[str, object], reason: str) -> None:
    verdict = judge(answer_of("test.order", DEFAULTS["test.order"], **changes))
    assert reason in verdict.silent and not verdict.agree and not verdict.tells


@pytest.mark.parametrize("choice", ["test.order", "transfer.both_tiling_flags"])
@pytest.mark.parametrize("trouble", [{"hung": "P3D f0/e1, PPF f0/e2"}, {"errors": "E0E02BEE f0/e3"}])
def test_what_fails_under_no_value_leaves_an_answer_silent(choice: str, trouble: dict[str, object]) -> None:
    verdict = judge(answer_of(choice, DEFAULTS[choice], **trouble))
    assert "under no value our machine fails as this one did" in verdict.silent and not verdict.tells
    assert len(table([verdict], date(2026, 1, 2)).splitlines()) == 1


def test_a_unit_that_hangs_tells_the_value_under_which_it_does() -> None:
    """The places are those of the file that was sent."""
    choice = "transfer.both_tiling_flags"
    assert judge(answer_of(choice, "hang", hung="PPF f0/e17")).agree == ("hang",)
    for value in CHOICES[choice].values:
        assert judge(answer_of(choice, value)).agree == (value,)
    for value in CHOICES["gsp.alignment"].values:
        assert judge(answer_of("gsp.alignment", value)).agree == (value,)


def test_a_damaged_answer_hinders_no_other(tmp_path: Path) -> None:
    whole = file_of(tmp_path, "test.order", "depth-first", "3DS")
    bad = tmp_path / "depth.bits.answer.pgc"
    bad.write_bytes(whole.read_bytes()[:-3] + b"xyz")
    damaged, told = judge_files([bad, whole])
    assert damaged.damaged and damaged.choice == "depth.bits" and not damaged.tells
    assert damaged.silent.startswith("unreadable: ") and "copy it again from the card" in damaged.silent
    assert told.agree == ("depth-first",)


def test_consoles_are_judged_apart_and_may_disagree(tmp_path: Path) -> None:
    """What one console has is not taken for another's: with one stack for everything, both ends of loops leave the
    same."""
    one = [
        file_of(tmp_path / "one", "shader.stacks", "single", "3DS, one"),
        file_of(tmp_path / "one", "test.order", "depth-first", "3DS, one"),
    ]
    other = [
        file_of(tmp_path / "other", "shader.loop_ends", "all", "3DS, other"),
        file_of(tmp_path / "other", "test.order", "alpha-first", "3DS, other"),
    ]
    verdicts = list(judge_files([*one, *other]))
    assert [found.agree for found in verdicts] == [("single",), ("depth-first",), ("all",), ("alpha-first",)]
    assert contradictions(verdicts) == {
        "test.order": {"3DS, one": ("depth-first",), "3DS, other": ("alpha-first",)}
    }  # fmt: skip
    assert not contradictions(verdicts[:2])


def test_each_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next(value for value in CHOICES["test.order"].values if value != DEFAULTS["test.order"])
    paths = [
        file_of(tmp_path, "test.order", other, "x"),
        file_of(tmp_path, "transfer.both_tiling_flags", "hang", "x"),
    ]
    read: list[str] = []
    monkeypatch.setattr(judging, "read_file", lambda name: (read.append(name), read_file(name))[1])
    assert all(one.tells for one in judge_files(paths))
    assert read == [str(path) for path in paths]


@pytest.mark.parametrize("choice", ["test.order", "gsp.alignment", "transfer.both_tiling_flags"])
def test_an_answer_to_an_earlier_version_is_judged_with_what_was_sent(tmp_path: Path, choice: str) -> None:
    """The earlier version has one frame more, in which nothing happens, so it is another file."""
    contents = parse(sent_of_scene(SCENES[choice]).encode())
    frames = [*contents.frames, FrameContents(())]
    earlier = encode(replace(contents, frames=frames))
    for value in CHOICES[choice].values:
        path = file_of(tmp_path, choice, value, "3DS", digest(earlier))
        (tmp_path / f"{choice}.pgc").write_bytes(earlier)
        (verdict,) = judge_files([path])
        assert verdict.agree == (value,), verdict
    for other in (earlier[:-9], b""):
        (tmp_path / f"{choice}.pgc").write_bytes(other)
        (verdict,) = judge_files([path])
        assert "another version of the scene" in verdict.silent and "run them on the console again" in verdict.silent


def test_our_own_answers_are_no_evidence(tmp_path: Path) -> None:
    path = file_of(tmp_path, "test.order", "depth-first", "pocketgpu 1.2.3, emulating a 3DS, kernel 2.57.0")
    (verdict,) = judge_files([path])
    assert verdict.ours and verdict.tells
    with pytest.raises(UsageError, match="pocketgpu's own") as caught:
        table([verdict], date(2026, 1, 2))
    assert "leave out --evidence" in str(caught.value.hint)


def test_evidence_has_the_day_of_the_answer(tmp_path: Path) -> None:
    verdicts = judge_files([file_of(tmp_path, "test.order", "depth-first", "3DS")])
    row = table(verdicts, date(2026, 1, 2)).splitlines()[1]
    assert row.endswith(f"\t{date.fromtimestamp(DAY).isoformat()}")


def test_what_only_a_person_sees() -> None:
    by_eye = next(name for name in SCENES if SCENES[name].made.watch.by_eye and not SCENES[name].made.timed)
    value = CHOICES[by_eye].values[-1]
    assert judge(answer_of(by_eye, value, seen=value)).agree == (value,)
    assert judge(answer_of(by_eye, value, seen=value)).by_eye
    for seen in ("", "something else"):
        assert "only a person can see it" in judge(answer_of(by_eye, value, seen=seen)).silent


def test_evidence_has_only_what_is_told() -> None:
    told = Verdict("a", "test.order", ("alpha-first", "depth-first"), ("depth-first",), {"alpha-first": ("x",)})
    verdicts = [
        replace(told, console="3DS\twith\na tab", digest="AB"), replace(told, agree=told.values),
        replace(told, silent="refused"), replace(told, agree=()),
    ]  # fmt: skip
    lines = table(verdicts, date(2026, 1, 2)).splitlines()
    assert len(lines) == 2 and lines[0].split("\t") == list(COLUMNS)
    cells = lines[1].split("\t")
    assert cells[:4] == ["test.order", "depth-first", "measured", "console"]
    assert cells[5:] == ["3DS with a tab; answer AB", "2026-01-02"]
