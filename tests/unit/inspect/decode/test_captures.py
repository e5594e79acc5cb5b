"""Every recording that there is: words come back out of the listing, and registers are what the machines hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import recordings

import pocketgpu.capture
from pocketgpu.capture import Capture
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.decode import BLOCKS, EFFECTS, WHAT, Decoded, decode, parse_listing
from pocketgpu.inspect.decode.maxwell_tracer import MaxwellTracer
from pocketgpu.inspect.decode.pica_tracer import PicaTracer
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.host.observer import Undrawn
from pocketgpu.maxwell.sass.launch.launcher import Result
from pocketgpu.pica.core import observer as pica_observer
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets

ROOT = Path(__file__).resolve().parents[4]
DATA = ROOT / "src" / "pocketgpu" / "data"
RECORDED = recordings.n3ds()
N3DS = [DATA / "sample.ctf.xz", *sorted(RECORDED.glob("*.ctf.xz")), *sorted(RECORDED.glob("*.gx.json.xz"))]
SWITCH = [DATA / "sample_switch.mxcap.zip", *sorted(recordings.switch().glob("*.mxcap.zip"))]


def name(path: Path) -> str:
    return path.name


def opened(path: Path) -> Capture:
    if not path.is_file():
        pytest.skip("the sample is not built")
    return pocketgpu.capture.open(path)


@pytest.mark.parametrize("path", N3DS + SWITCH, ids=name)
def test_words_come_back_out_of_the_listing(path: Path) -> None:
    decoded = decode(opened(path))
    table = decoded.stream.table
    assert (decoded.rows["word"] == decoded.stream.words).all()
    assert "garbage" not in {WHAT[n] for n in np.unique(decoded.rows["what"])}
    for single in (False, True):
        listed = parse_listing("\n".join(decoded.lines(single=single)))
        full = [number for number in range(len(table)) if table[number]["count"]]
        assert len(listed) == len(full)
        for one, number in zip(listed, full, strict=True):
            assert (one.words == decoded.stream.segment_words(number)).all()
            assert one.address == table[number]["address"]
    assert sum(map(len, decoded.segments)) == len(decoded.stream.words)


@pytest.mark.parametrize("path", [*N3DS[:4], *SWITCH[:4]], ids=name)
def test_words_come_back_out_of_json(path: Path) -> None:
    decoded = decode(opened(path))
    found = [json.loads(line) for line in decoded.json_lines()]
    assert found[0]["words"] == len(found) - 1
    assert [int(line["word"], 16) for line in found[1:]] == decoded.stream.words.tolist()


@pytest.mark.skipif(len(N3DS) < 2, reason=recordings.REASON)
def test_all_recordings_are_there() -> None:
    assert len(N3DS) >= 43 and len(SWITCH) >= 18


def states(decoded: Decoded, first: np.ndarray, block: int) -> list[tuple[int, int, dict[int, int]]]:
    """Frame and number of each draw, and the registers of a block as rows up to it say, by id."""
    rows, held = decoded.rows, dict(enumerate(first.tolist()))
    found = []
    parameter = (rows["what"] == 1) | (rows["what"] == 2) | (rows["what"] == WHAT.index("issued"))
    for row in rows[parameter]:
        if row["block"] == block:
            held[int(row["id"])] = int(row["new"])
        if int(row["effect"]) & EFFECTS["draw"]:
            found.append((int(row["frame"]), int(row["draw"]), dict(held)))
    return found


MOVING_N3DS = {
    PICA[name].offset
    for name in (
        "FIXEDATTRIB_INDEX", "VSH_FLOATUNIFORM_INDEX", "VSH_CODETRANSFER_INDEX", "VSH_OPDESCS_INDEX",
        "GSH_FLOATUNIFORM_INDEX", "GSH_CODETRANSFER_INDEX", "GSH_OPDESCS_INDEX", "FOG_LUT_INDEX",
        "LIGHTING_LUT_INDEX", "PROCTEX_LUT", "GAS_LUT_INDEX", "CMDBUF_JUMP0", "CMDBUF_JUMP1",
        "GSH_OUTMAP_MASK", "GSH_BOOLUNIFORM", *(f"GSH_INTUNIFORM_I{n}" for n in range(4)),
    )
}  # fmt: skip
"""Registers that change without being written: indices count on with every word, lists end, and the fourth
unit takes along what the vertex units are given."""
MOVING_SWITCH = {B197["LOAD_CONSTANT_BUFFER_OFFSET"].word, B197["SET_MME_SHADOW_SCRATCH"].word}
"""The same: offsets move on, firmware acknowledges."""
PICA_BLOCK, B197_BLOCK = BLOCKS.index("pica"), BLOCKS.index("b197")


class Watcher(pica_observer.Undrawn):
    """Keeps the registers of each draw."""

    def __init__(self) -> None:
        self.found: list[np.ndarray] = []

    def draws(self, packets: DrawPackets, run: Run) -> None:
        self.found += list(packets.registers.copy())


@pytest.mark.parametrize("path", N3DS, ids=name)
def test_registers_at_draws_are_those_of_the_machine(path: Path) -> None:
    capture = opened(path)
    assert not isinstance(capture.trace, ChannelLog)
    watcher, counts = Watcher(), []
    driver = drive(capture.trace)
    machine = driver.machine
    machine.observe(watcher)
    for _ in driver.frames(pictures=False):
        counts.append(len(watcher.found))
    decoded = decode(capture)
    found = states(decoded, capture.trace.initial.pica, PICA_BLOCK)
    assert len(found) == len(watcher.found)
    plain = [id for id in range(0x40, 0x300) if id not in MOVING_N3DS]
    for (_, _, held), registers in zip(found, watcher.found, strict=True):
        assert [held[id] for id in plain] == registers[plain].tolist()
    expected = [
        (frame, n) for frame, end in enumerate(counts) for n in range(end - (counts[frame - 1] if frame else 0))
    ]
    assert [(frame, draw) for frame, draw, _ in found] == expected
    tracer = PicaTracer(decoded.stream)
    tracer.trace()
    assert (tracer.registers[0x40:] == machine.registers[0x40:]).all()


class Unlaunched(Undrawn):
    """Nothing is drawn, and no grid runs."""

    def launch(self, *_: object) -> Result:
        return Result()


@pytest.mark.parametrize("path", SWITCH, ids=name)
def test_registers_at_draws_are_those_of_the_gpu(path: Path) -> None:
    capture = opened(path)
    assert isinstance(capture.trace, ChannelLog)
    driver = drive(capture.trace)
    machine = driver.machine
    machine.observe(Unlaunched())
    machine.channel(0)
    first = machine.channel(0).files[0].copy()
    draws = []
    for _ in range(capture.frame_count + 1):
        for _ in driver.steps():
            pass
        draws += [record for record in machine.log if isinstance(record, Draw)]
    decoded = decode(capture, macros=True)
    found = states(decoded, first, B197_BLOCK)
    assert len(found) == len(draws)
    plain = [word for word in range(0x40, 0xE00) if word not in MOVING_SWITCH]
    for (_, _, held), draw in zip(found, draws, strict=True):
        assert [held[word] for word in plain] == draw.registers[plain].tolist()
    tracer = MaxwellTracer(decoded.stream)
    tracer.trace()
    for channel in machine.channels.values():
        assert (tracer.files(channel.index) == channel.files).all()


def test_a_second_decode_is_a_copy() -> None:
    capture = opened(N3DS[0])
    first, second = decode(capture), decode(capture)
    assert first.stream is second.stream and (first.rows == second.rows).all()
    first.rows["word"] = 0
    assert second.rows["word"].any() and decode(capture).rows["word"].any()
