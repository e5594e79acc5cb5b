"""Links of answers: texels are those of the line, and words leave their register as the draw has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.references import registers_in

DATA = Path(pocketgpu.__file__).parent / "data"
PLACES = [("sample.ctf.xz", "f0/d4/px60,200"), ("sample.ctf.xz", "f0/d4"), ("sample_switch.mxcap.zip", "f0/d5"),
          ("sample_switch.mxcap.zip", "f0/px640,360")]  # fmt: skip
_RUNS: dict[str, Inspection] = {}


def _run(name: str) -> Inspection:
    if name not in _RUNS:
        _RUNS[name] = pocketgpu.debug(DATA / name)
    return _RUNS[name]


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_words_leave_registers_as_the_draw_has_them(name: str, place: str) -> None:
    run = _run(name)
    answer = run.why(place)
    lines = answer.text().split("\n")
    links = [one for one in answer.links() if one.reference.register]
    assert links
    for one in links[:12]:
        assert 0 <= one.line < len(lines)
        register = one.reference.register
        word = run.word_of(register, one.at)
        assert word is not None, register
        assert word.value == run.seek(one.at).registers()[register]
        assert word.event.draw is not None
        rows = [json.loads(row) for row in run.words_of(run.event(word.event))]
        row = [row for row in rows if "word" in row][word.line]
        assert row["address"] == f"{word.address:#0{len(row['address'])}x}"
        if "macro" not in row.get("effects", ()):
            assert row["register"]["name"] == register
            assert int(row["register"]["new"], 16) == word.value


def test_texels_are_those_of_the_line() -> None:
    run = _run("sample.ctf.xz")
    answer = run.why("f0/d4/px60,200")
    lines = answer.text().split("\n")
    links = [one for one in answer.links() if one.reference.texture]
    assert len(links) > 4
    for one in links:
        found = one.reference
        texture = {each.facts.name: each for each in run.seek(one.at).textures.values()}[found.texture]
        color = texture.pixels(texture.part(found.part))[found.y, found.x]
        if "texel (" in lines[one.line]:
            assert lines[one.line].endswith("#" + bytes(color).hex())


def test_references_are_part_of_the_json() -> None:
    answer = _run("sample.ctf.xz").why("f0/d4/px60,200").to_json()
    stages = [stage for event in answer["events"] for one in event["fragments"] for stage in one["stages"]]
    sampled = next(stage for stage in stages if stage["name"] == "texture 0")
    assert {"line": 1, "texture": "unit0", "part": "unit0", "x": 34, "y": 52} in sampled["references"]
    assert {"line": 0, "register": "TEXUNIT0_ADDR"} in sampled["references"]


@pytest.mark.parametrize("name", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_a_register_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no register"):
        _run(name).word_of("NO_SUCH_REGISTER", "f0/d3")


def test_registers_in_the_text_of_a_cause() -> None:
    text = "FACECULLING_CONFIG drops front, OGL_SET_CULL_FACE BACK, SET_CT_WRITE(1), NaN, NOT_A_REGISTER"
    assert registers_in(text) == ["FACECULLING_CONFIG", "OGL_SET_CULL_FACE", "SET_CT_WRITE(1)"]
    assert registers_in("the vertex program, or what it reads") == []
