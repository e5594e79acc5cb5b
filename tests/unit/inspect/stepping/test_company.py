"""What is recorded together with a lane: the lanes beside it, what their warp ran, and memory at any time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kernel_cases import NAMES, Case

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping import Trace, trace_thread, trace_vertex
from pocketgpu.inspect.stepping.company import Company
from pocketgpu.inspect.stepping.memory_words import memory_word, name_of
from pocketgpu.inspect.stepping.trace_memory import TraceMemory
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.assembler import assemble

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
PARTED = """.kernel k
.registers 10
.shared 128
.local 16
.param data ptr
S2R R0, SR_TID.X
SHL R1, R0, 0x2
IADD R2.CC, R1, c[0x0][0x140]
IADD.X R3, RZ, c[0x0][0x144]
ISETP.LT.AND P0, PT, R0, 0x9, PT
SSY joined
@P0 BRA small
STS [R1], R0
STL [0x4], R1
SYNC
small:
LDG.E R4, [R2]
IADD R4, R4, 0x1
STG.E [R2], R4
MOV32I R6, 0x10
ATOMS.ADD R5, [R6], R0
STL [0x8], R4
SYNC
joined:
BAR.SYNC 0x0
LDS R7, [R1]
STG.E [R2], R7
EXIT
"""
QUIET = [one for one in ("ctl_exit", "f16", "ldst_global", "mandelbrot", "s2r", "shift", "tex_query") if one in NAMES]
"""Short kernels without barriers and atomics: no other warp runs between two instructions of one."""


def parted(company: Company, at: int = 3, block: int = 32, **more: Any) -> Trace:
    function = pocketgpu.RawModule(code=PARTED).get_function("k")
    data = np.arange(100, 164, dtype=np.uint32)
    return trace_thread(function, (1,), (block,), (data,), at=((0,), (at,)), company=company, **more)


def public(name: str, company: Company) -> Trace:
    case = Case(name)
    module = pocketgpu.RawModule(case.folder / "kernel.cubin")
    function = module.get_function(case.about["kernel"])
    for texture in case.about.get("textures", ()):
        if "symbol" in texture:
            module.bind(texture["symbol"], case.images[texture["name"]])
    found = trace_thread(
        function, case.about["grid"], case.about["block"], case.arguments(), shared_mem=case.about["smem_dynamic"],
        company=company,
    )  # fmt: skip
    module.close()
    return found


def stores(trace: Trace, spaces: tuple[str, ...]) -> Iterator[tuple[int, str, int, bytes]]:
    """Time, space, address and bytes of everything that a lane stores."""
    for step in trace:
        for one in step.accesses:
            if one.kind == "store" and one.space in spaces:
                data = b"".join(word.to_bytes(4, "little") for word in one.words)[: one.size]
                yield trace.tick(step.index) + 1, one.space, one.address, data


def holds(traces: list[Trace], others: int = 0) -> int:
    """The first lane's memory at every time is what it was at the beginning, with the stores of all lanes up to then.

    others: bytes from the beginning of shared memory that atomics change. Returns how many bytes were compared.
    """
    first, (memory, *_) = traces[0], [one.memory for one in traces]
    assert memory is not None and first.schedule is not None
    wanted = {(one.space, one.address): bytearray() for one in memory.pieces}
    for piece in memory.pieces:
        wanted[piece.space, piece.address][:] = memory.read(piece.space, piece.address, len(piece.data), 0)[0]
    done = sorted(
        [one for trace in traces for one in stores(trace, ("global", "shared"))] + [*stores(first, ("local",))],
        key=lambda one: one[0],
    )  # fmt: skip
    compared = 0
    for tick in range(len(first.schedule) + 1):
        while done and done[0][0] <= tick:
            _, space, address, data = done.pop(0)
            for piece in memory.pieces:
                at = address - piece.address
                if piece.space == space and 0 <= at < len(piece.data):
                    wanted[space, piece.address][at : at + len(data)] = data
        if tick % 7 == 0 or tick > len(first.schedule) - 3:
            for piece in memory.pieces:
                if piece.space != "constant":
                    skip = others if piece.space == "shared" else 0
                    now, missing = memory.read(piece.space, piece.address, len(piece.data), tick)
                    assert not missing and now[skip:] == bytes(wanted[piece.space, piece.address])[skip:], f"at {tick}"
                    compared += len(now)
    return compared


def test_the_lanes_beside_one_are_those_that_are_named() -> None:
    alone = [parted(Company(), lane) for lane in range(32)]
    beside = [parted(Company(near=lane - 3), 3) for lane in range(32)]
    for one, other in zip(alone, beside, strict=True):
        assert (str(one), one.start, one.lane) == (str(other), other.start, other.lane)
        assert one.schedule is not None and other.schedule is not None
        assert one.schedule.numbers == other.schedule.numbers and one.schedule.masks == other.schedule.masks
        for lane in range(32):
            numbers = [step.number for step in alone[lane]]
            assert one.schedule.instructions(lane).tolist() == numbers
            assert [one.schedule.place(lane, one.schedule.tick(lane, n)) for n in range(len(numbers))] == [
                *range(len(numbers))
            ]  # fmt: skip
    with pytest.raises(UsageError, match="no thread"):
        parted(Company(near=29), 3)
    with pytest.raises(UsageError, match="no thread"):
        parted(Company(near=-4), 3)


def test_memory_is_what_all_lanes_of_the_warp_stored() -> None:
    traces = [parted(Company(near=lane, keep=()), 0) for lane in range(32)]
    assert holds(traces, others=20) > 1000
    memory = traces[0].memory
    assert memory is not None
    shared = np.frombuffer(memory.read("shared", 0, 128, 1 << 20)[0], np.uint32)
    assert shared[4] == sum(range(9)), "of atomics"
    mine = [
        (trace.tick(step.index), lane, one.kind, one.space, one.address, one.size)
        for lane, trace in enumerate(traces) for step in trace for one in step.accesses if one.space != "constant"
    ]  # fmt: skip
    for trace in traces[:3]:
        assert trace.memory is not None and sorted(trace.memory.touched) == sorted(mine)


@pytest.mark.parametrize("name", QUIET)
def test_memory_of_public_kernels(name: str) -> None:
    traces = [public(name, Company(near=lane, keep=())) for lane in range(32)]
    assert holds(traces) > 0
    assert not any(step.text.startswith(("BAR", "ATOM", "RED")) for step in traces[0])


def test_other_warps_are_seen_where_the_warp_waits() -> None:
    trace = parted(Company(keep=()), 0, block=64)
    memory = trace.memory
    assert memory is not None
    before, after = (next(step.index + more for step in trace if step.text.startswith("BAR")) for more in (0, 1))
    words = [np.frombuffer(memory.read("global", memory.pieces[0].address, 256, trace.tick(place))[0], np.uint32)
             for place in (0, before, after)]  # fmt: skip
    assert words[0].tolist() == [*range(100, 164)]
    assert words[1][:9].tolist() == [*range(101, 110)] and words[1][32:].tolist() == words[0][32:].tolist()
    assert np.array_equal(words[2], words[1]), "the second warp stores nothing before it"
    assert memory.read("shared", 4 * 20, 4, trace.tick(before))[0] == (20).to_bytes(4, "little")
    assert memory.read("shared", 4 * 31, 4, trace.tick(0))[0] == bytes(4)


def test_what_is_not_kept_is_told() -> None:
    trace = parted(Company(keep=((0x700000000, 4096),)))
    memory = trace.memory
    assert memory is not None
    assert memory.has("global", 0x700000000, 4096) and not memory.has("global", 0x700001000, 1)
    assert memory.read("global", 0x700000000, 8, 0) == (b"", 8) and memory.read("shared", 124, 8, 0)[1] == 4
    assert parted(Company()).memory is None


def test_words_of_memory_are_given_others() -> None:
    plain = parted(Company())
    address = next(one.address for step in plain for one in step.accesses if one.space == "global")
    load = next(step.index for step in plain if step.text.startswith("LDG"))
    changed = parted(Company(keep=()), overrides={load: {name_of("global", address): 7}, 0: {"c[0x0][0x148]": 9}})
    assert changed[load].accesses[0].words == (7,) and changed.memory is not None
    assert changed.memory.read("global", address, 4, changed.tick(load) - 1)[0] == (103).to_bytes(4, "little")
    assert changed.memory.read("global", address, 4, changed.tick(load))[0] == (7).to_bytes(4, "little")
    assert changed.memory.read("constant", 0x148, 4, 0)[0] == (9).to_bytes(4, "little")
    assert str(parted(Company())) == str(plain), "nothing of it stays"
    other = parted(Company(near=1, forced={0: {load: {name_of("global", address + 4): 5}}}), overrides={})
    assert other[load].accesses[0].words == (5,)
    for name in ("global[0x5]", "global[0x700000000]", "shared[0x80]", "local[0x99999]", "c[0x20][0x0]", "shared[0x1]"):
        with pytest.raises(UsageError):
            parted(Company(), overrides={0: {name: 1}})


def test_uniforms_of_a_3ds() -> None:
    words = assemble("main: mov r0, c3\nadd r0, c3, r0\nmov o0, r0\nend\n")
    program = Program(words.code, words.descriptors, words.entry)
    uniforms = {3: (1.0, 2.0, 3.0, 4.0)}
    trace = trace_vertex(
        program, np.zeros((16, 4), np.float32), uniforms, overrides={1: {"c3.x": 0x41200000}}, keep=True
    )  # fmt: skip
    assert trace.end.vector("o0") == (11, 4, 6, 8) and trace.memory is not None
    assert [trace.value_at("c3.x", place).number for place in (0, 1, 2)] == [1, 10, 10]
    seen = [np.frombuffer(trace.memory.read("constant", 48, 4, place)[0], np.float32)[0] for place in (0, 1, 4, 0)]
    assert seen == [1, 10, 10, 1] and trace.memory.name("constant", 48) == "c3.x"
    again = trace_vertex(program, np.zeros((16, 4), np.float32), uniforms)
    assert again.end.vector("o0") == (2, 4, 6, 8) and again.memory is None


@pytest.mark.parametrize(("name", "address"), (("sample_switch.mxcap.zip", "f0/d5/v3"), ("sample.ctf.xz", "f0/d5/v3")))
def test_constants_of_captures(name: str, address: str) -> None:
    run = pocketgpu.debug(DATA / name)
    plain = run.trace(address)
    constant = next(value for step in plain for value in step.reads if value.names[0] in plain.constants)
    changed = run.trace(address, overrides={0: {constant.names[0]: 0x42C80000}}, company=Company(keep=()))
    assert str(changed) != str(plain) and changed.memory is not None
    assert changed.value_at(constant.names[0], 5).bits == 0x42C80000
    assert str(run.trace(address)) == str(plain), "the capture stays as it is"


def test_words_of_memory_of_a_capture_stay() -> None:
    run = pocketgpu.debug(DATA / "sample_switch.mxcap.zip")
    assert isinstance(run, SwitchInspection)
    plain = str(run.trace("f0/d5/v3"))
    mapping = run.player.machine.memory.mappings[0]

    def now() -> bytes:
        run.seek("f0/d5")
        return run.player.machine.memory.read(mapping.address, 8)

    before = now()
    other = ~int.from_bytes(before[4:], "little") & 0xFFFFFFFF
    company = Company(keep=((mapping.address, 4096),))
    changed = run.trace("f0/d5/v3", overrides={2: {name_of("global", mapping.address + 4): other}}, company=company)
    assert changed.memory is not None
    seen = [changed.memory.read("global", mapping.address, 8, changed.tick(place))[0] for place in (1, 2, len(changed))]
    assert seen == [before, before[:4] + other.to_bytes(4, "little"), before[:4] + other.to_bytes(4, "little")]
    assert now() == before and str(run.trace("f0/d5/v3")) == plain


def test_changes_go_forward_and_back() -> None:
    memory = TraceMemory()
    piece = memory.add("shared", 16, np.zeros(16, np.uint8))
    for tick, at, data in ((2, 0, b"ab"), (2, 1, b"c"), (5, 4, b"defg"), (9, 0, b"z" * 16)):
        memory.change(tick, piece, at, data)
    rng = np.random.default_rng(1)
    for tick in [*range(12), *rng.integers(0, 12, 40).tolist()]:
        wanted = bytearray(16)
        for when, at, data in ((2, 0, b"ab"), (2, 1, b"c"), (5, 4, b"defg"), (9, 0, b"z" * 16)):
            if when <= tick:
                wanted[at : at + len(data)] = data
        assert memory.read("shared", 16, 16, tick) == (bytes(wanted), 0)
    assert memory.read("shared", 0, 20, 0) == (b"", 16) and memory.read("shared", 30, 9, 9) == (b"zz", 7)
    assert memory.read("local", 0, 3, 0) == (b"", 3)


def test_names_of_words() -> None:
    for space, address in (("global", 0x100000040), ("shared", 0), ("local", 8), ("constant", 0x30140)):
        assert memory_word(name_of(space, address)) == (space, address)
    assert name_of("constant", 0x30140) == "c[0x3][0x140]"
    assert [memory_word(name) for name in ("R0", "c3.x", "global[5]", "texture[0x0]", "shared[0x]", "")] == [None] * 6
