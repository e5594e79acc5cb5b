"""Where long programs are cut into parts."""

from __future__ import annotations

import pytest

from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.parts import LONGEST, PART, cost_of, cuts_of
from pocketgpu.maxwell.sass.program.residence import Residence
from pocketgpu.maxwell.sass.thread_memory.work import MOST_PARTS


def flow(text: str) -> Flow:
    return flow_of(assemble(text).code, 0, ())


def lines(count: int, text: str = "IADD32I R0, R0, 0x1") -> str:
    return f"{text}\n" * count


def costs(of: Flow) -> list[int]:
    """What each part costs."""
    found = [0] * max(len(of.cuts), 1)
    for index in of.reached:
        found[of.part_of(index)] += cost_of(of.steps[index])
    return found


def test_a_short_program_is_one_piece() -> None:
    whole = flow(lines(LONGEST - 1) + "EXIT")
    assert whole.cuts == () and whole.part_of(LONGEST - 1) == 0
    assert len(whole.blocks) == 1 and not Residence(whole).whole


@pytest.mark.parametrize("count", [LONGEST, 801, 1173, 2874, 8000])
def test_parts_are_of_like_size_and_none_is_too_large(count: int) -> None:
    long = flow(lines(count) + "EXIT")
    found = costs(long)
    assert sum(found) == count + 1 and max(found) <= PART
    assert len(found) == -(-(count + 1) // PART) and min(found) > PART // 2 - len(found)
    assert {*long.cuts} <= long.block_at.keys() and Residence(long).whole
    assert [long.part_of(first) for first in long.cuts] == [*range(len(found))]
    assert long.part_of(long.cuts[1] - 1) == 0


def test_instructions_with_long_code_count_more() -> None:
    doubles = flow(lines(100, "DFMA R0, R2, R4, R6") + "EXIT")
    assert len(doubles.cuts) > 3 and max(costs(doubles)) <= PART


@pytest.mark.parametrize("loop", ["", "ISETP.LT.AND P0, PT, R0, 0x100, PT\n@P0 BRA again\n"])
def test_a_launch_has_room_for_all_parts(loop: str) -> None:
    """Parts of a program of many instructions with long code are longer instead of more."""
    again = ("again:\n" + lines(100, "HFMA2 R0, R1, R2, R3") + loop).replace("again", "again{n}")
    text = "".join(again.format(n=n) for n in range(30))
    found = flow(text + "EXIT")
    assert MOST_PARTS // 2 < len(found.cuts) <= MOST_PARTS
    assert sum(costs(found)) > 70_000 and max(costs(found)) < 2 * 72_000 // (2 * MOST_PARTS // 3)


def test_a_cut_is_not_inside_a_loop_if_it_can_be_outside() -> None:
    loop = "again:\n" + lines(120) + "ISETP.LT.AND P0, PT, R0, 0x100, PT\n@P0 BRA again\n"
    text = lines(290) + loop + lines(250) + "EXIT"
    found = flow(text)
    first, last = 290, 290 + 121
    assert found.cuts and not any(first < cut <= last for cut in found.cuts)
    assert cuts_of(found.steps, found.reached, []) != found.cuts, "without the loop the cut would be inside"


def test_a_loop_longer_than_a_part_is_cut() -> None:
    found = flow("again:\n" + lines(900) + "ISETP.LT.AND P0, PT, R0, 0x4000, PT\n@P0 BRA again\nEXIT")
    assert len(found.cuts) == 3 and max(costs(found)) <= PART


def test_for_an_observer_nothing_is_cut() -> None:
    code = assemble(lines(1000) + "EXIT").code
    assert flow_of(code, 0, (), as_written=True).cuts == ()
