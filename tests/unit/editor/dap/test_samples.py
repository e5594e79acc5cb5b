"""Captures: the samples of both consoles, by vertex, pixel and pixel of a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.dap_client import Editor, Refused

import pocketgpu
from pocketgpu.inspect.model.address import Address

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
SAMPLES = {"sample.ctf.xz": "f0/d5/v3", "sample_switch.mxcap.zip": "f0/d5/v3"}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_vertex_has_the_values_of_its_trace(editor: Editor, name: str) -> None:
    address = SAMPLES[name]
    wanted = pocketgpu.debug(DATA / name).trace(address)
    editor.launch(capture=str(DATA / name), address=address)
    for place in range(len(wanted)):
        registers = wanted.at(place)
        session_lane = editor.adapter.session.debuggee.main
        assert [session_lane.trace.value_at(one, place).bits for one in registers] == [
            registers.word(one) for one in registers
        ]
        editor.ask("stepIn", threadId=editor.thread, granularity="instruction")
        assert editor.place == place + 1
    frame = editor.frame
    assert "end of" in frame["name"] and frame["source"]["sourceReference"] == 1
    text = editor.ask("source", sourceReference=1)["content"].splitlines()
    assert text[frame["line"] - 1].endswith(wanted[-1].text)


def test_the_listing_is_the_same_in_every_run() -> None:
    texts = []
    for _ in range(2):
        editor = Editor()
        editor.launch(capture=str(DATA / "sample.ctf.xz"), address="f0/d5/v3")
        texts.append(editor.ask("source", sourceReference=1)["content"])
    assert texts[0] == texts[1] and len(texts[0].splitlines()) > 5


def test_a_pixel_of_a_picture(editor: Editor) -> None:
    """On a Switch its last fragment with the lanes of its quad, on a 3DS the vertices of its triangle."""
    editor.launch(capture=str(DATA / "sample_switch.mxcap.zip"), address="f0/px200,120")
    threads = editor.ask("threads")["threads"]
    assert len(threads) == 4 and "pixel (200, 120)" in [one["name"] for one in threads]
    frames = [editor.ask("stackTrace", threadId=one["id"])["stackFrames"][0] for one in threads]
    assert all("pixel program" in one["name"] or one["presentationHint"] == "label" for one in frames)
    other = Editor()
    other.launch(capture=str(DATA / "sample.ctf.xz"), address="f0/px200,120")
    names = [one["name"] for one in other.ask("threads")["threads"]]
    assert len(names) == 3 and names[0].startswith("vertex ")
    assert other.ask("stackTrace", threadId=2)["stackFrames"][0]["name"].startswith("vertex program")


@pytest.mark.parametrize(
    ("name", "address"), [("sample.ctf.xz", "f1/px200,120"), ("sample_switch.mxcap.zip", "f0/px700,420")]
)
def test_a_pixel_with_several_fragments_is_the_one_that_gave_it_its_colour(
    editor: Editor, name: str, address: str
) -> None:
    """Several draws wrote the pixel, and on the Switch the depth test rejected a later one: `why` names the one."""
    run = pocketgpu.debug(DATA / name)
    last = run.why(address).last
    assert last is not None and len({one.address.place for one in run.programs_at(address)}) > 2
    editor.launch(capture=str(DATA / name), address=address)
    debuggee = editor.adapter.session.debuggee
    assert Address.parse(debuggee.main.trace.address).place == last.event.address
    if last.primitive is not None and not any(one.address.pixel for one in last.programs):
        assert [one.trace.address for one in debuggee.lanes] == [str(one.address) for one in last.primitive.runs]


@pytest.mark.parametrize("name", SAMPLES)
def test_what_if_in_a_capture_leaves_the_capture_alone(editor: Editor, name: str) -> None:
    editor.launch(capture=str(DATA / name), address=SAMPLES[name])
    lane = editor.adapter.session.debuggee.main
    before = [(one.text, one.happened) for one in lane.trace]
    place, register = next(
        (step.index, value.names[0]) for step in lane.trace for value in step.reads
        if step.index and value.kind == "f32" and value.names[0] in lane.trace.start
    )  # fmt: skip
    [editor.go("stepIn", granularity="instruction") for _ in range(place)]
    editor.ask("setExpression", expression=register, value="0x7fc00000")
    assert lane.trace.value_at(register, place).bits == 0x7FC00000
    assert [(one.text, one.happened) for one in lane.trace.steps[:place]] == before[:place]
    assert [(one.text, one.happened) for one in lane.trace] != before
    editor.ask("restart")
    assert [(one.text, one.happened) for one in editor.adapter.session.debuggee.main.trace] == before


@pytest.mark.parametrize(
    "address", ("f0", "f0/d0", "f99/d0/v0", "f0/d0/v99999", "x", "f0/px9999,0", "f0/d0/t0", "f0/d0/px0,0")
)
def test_addresses_of_nothing_are_told(editor: Editor, address: str) -> None:
    editor.ask("initialize")
    with pytest.raises(Refused):
        editor.ask("launch", capture=str(DATA / "sample.ctf.xz"), address=address)
