"""Where control goes, after the documents: loops, breaks, calls, conditions, jumps, and their three stacks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.pica.shader import Outputs, Program

Run = Callable[..., Outputs]
COUNTING = {i: (float(i),) * 4 for i in range(96)}
LOOPS = [(4, 10, 2, 0), (2, 50, 1, 0), (0, 0, 1, 0), (255, 0, 255, 0)]
ALL_LOOPS = {"shader.loop_ends": "all"}
# r0.x counts what ran; c90 = 1, c91 = 10, c92 = 100, c93 = 1000
ONES = {90: (1.0,) * 4, 91: (10.0,) * 4, 92: (100.0,) * 4, 93: (1000.0,) * 4}


def total(result: Outputs) -> float:
    return float(result[0, 0, 0])


def test_a_loop_runs_once_more_than_its_number_says_and_leaves_its_counter(run: Run) -> None:
    text = "loop i{} \n add r0, c0[aL], r0 \n nop \n endloop \n mov o0, r0 \n end"
    first = run(text.format(0), uniforms=COUNTING, int_uniforms=LOOPS)
    assert total(first) == 10 + 12 + 14 + 16 + 18 and first.address[0].tolist() == [0, 0, 20]
    once = run(text.format(2), uniforms=COUNTING, int_uniforms=LOOPS)
    assert total(once) == 0 and once.address[0, 2] == 1
    # Steps are unsigned bytes, and the counter is no byte; from 128 on it does not index.
    long = run(text.format(3), uniforms=ONES, int_uniforms=LOOPS, numpy=False)
    assert long.address[0, 2] == 256 * 255


def test_nested_loops(run: Run) -> None:
    text = """
        loop i0
            loop i1
                add r0, c90, r0
                nop
            endloop
            add r1, c0[aL], r1
            nop
        endloop
        mov o0, r0
        mov o1, r1
        end
    """
    restored = run(text, uniforms={**COUNTING, **ONES}, int_uniforms=LOOPS)
    assert total(restored) == 15 and restored[0, 1, 0] == 10 + 12 + 14 + 16 + 18 and restored.address[0, 2] == 20
    kept = run(text, uniforms={**COUNTING, **ONES}, int_uniforms=LOOPS, choices={"shader.nested_loop_counter": "kept"})
    # After each inner loop aL is 53; the outer loop adds 2, and the inner one starts again.
    assert total(kept) == 15 and kept[0, 1, 0] == 5 * 53 and kept.address[0, 2] == 55


@pytest.mark.parametrize("choices", [ALL_LOOPS, {"shader.stacks": "single"}])
def test_loops_that_end_at_one_instruction(run: Run, choices: dict[str, str]) -> None:
    text = "loop i0, after \n loop i1, after \n add r0, c90, r0 \n after: \n mov o0, r0 \n end"
    both = run(text, uniforms=ONES, int_uniforms=LOOPS, choices=choices)
    assert total(both) == 15 and both.address[0, 2] == 20


def test_three_loops_that_end_at_one_instruction(run: Run) -> None:
    text = "loop i1, after \n loop i1, after \n loop i1, after \n add r0, c90, r0 \n after: \n mov o0, r0 \n end"
    assert total(run(text, uniforms=ONES, int_uniforms=LOOPS)) == 3, "the outer loops miss their end"
    assert total(run(text, uniforms=ONES, int_uniforms=LOOPS, choices=ALL_LOOPS)) == 27


def test_a_break_leaves_the_innermost_loop_alone(run: Run) -> None:
    text = """
        loop i0
            loop i1
                add r0, c90, r0
                cmp c91, lt, lt, r0     ; from the eleventh round on
                breakc cmp.x
                nop
            endloop
            add r0, c92, r0
            nop
        endloop
        mov o0, r0
        end
    """
    result = run(text, uniforms=ONES, int_uniforms=LOOPS)
    # Rounds of 3 while r0 is below 10, then one each: 3 + 100, 1 + 100, ...
    assert total(result) == 3 + 4 * 1 + 5 * 100 and result.address[0, 2] == 20


def test_a_break_leaves_the_if_it_stands_in_on_the_stack(run: Run) -> None:
    # Each round leaves an entry that ends at `here`; none of them may catch control later.
    text = """
        loop i0
            loop i1
                add r0, c90, r0
                ifu b0
                    nop
                    break
                    nop
                endif
                nop
            endloop
            nop
        endloop
        mov o0, r0
        end
    """
    assert total(run(text, uniforms=ONES, int_uniforms=LOOPS, bool_uniforms=[1] + [0] * 15)) == 5
    assert total(run(text, uniforms=ONES, int_uniforms=LOOPS)) == 15


@pytest.mark.parametrize(
    "text", ["break \n end", "cmp c90, eq, eq, r0 \n breakc !cmp.x \n end", "here: jmpu !b0, here"]
)
def test_what_hangs_the_unit_is_told_and_gives_zeros(run: Run, text: str) -> None:
    result = run("mov o0, c91 \n" + text, uniforms=ONES, numpy="here" not in text)
    assert result.hung.all() and not result.any() and not result.address.any()


def test_one_vertex_that_hangs_does_not_take_others_along(run: Run) -> None:
    text = "cmp v0, eq, eq, v1 \n here: \n jmpc cmp.x, here \n mov o0, v0 \n end"
    result = run(text, [(1, 0, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0)], (2, 0, 0, 0), n=3, numpy=False)
    assert result.hung.tolist() == [False, True, False] and result[:, 0, 0].tolist() == [1, 0, 3]


@pytest.mark.parametrize("parting", [False, True])
@pytest.mark.parametrize("more", [0, 1])
def test_the_limit_is_the_same_instruction_on_every_tier(run: Run, parting: bool, more: int) -> None:
    # 1 + 256 * (1 + 127 * 2) instructions up to `after`; the last one of 65536 may be END.
    tail = ["jmpc cmp.x, on", "on: nop"] if parting else ["nop", "nop"]
    tail += ["nop"] * (65536 - 65281 - len(tail) - 1 + more)
    text = "loop i0, after \n loop i1, after \n nop \n nop \n after: \n" + "\n".join(tail) + "\n end"
    ints = [(255, 0, 0, 0), (126, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    assert run(text, n=3, int_uniforms=ints, numpy=False, choices=ALL_LOOPS).hung.tolist() == [bool(more)] * 3


def test_calls_return_and_nest(run: Run) -> None:
    text = """
        .proc three
            add r0, c92, r0
        .endproc
        .proc two
            call three
            add r0, c91, r0
        .endproc
        .proc one
            call two
            call three
            add r0, c90, r0
        .endproc
        main:
            call one
            callu b1, one
            callu b2, one
            cmp r0, gt, lt, c93
            callc cmp.x, one
            callc cmp.y, one
            mov o0, r0
            end
    """.replace("cmp r0, gt, lt, c93", "cmp c93, lt, gt, r0")
    result = run(text, uniforms=ONES, bool_uniforms=[0, 1] + [0] * 14)
    assert total(result) == 3 * 211


def test_calls_that_end_together_return_together_but_not_four(run: Run) -> None:
    # Procedures at 2, 3, 4 and 5 consist of a call to the next one, so each returns to its own end.
    def text(depth: int) -> str:
        lines = ["call 2, 3", "jmpu !b0, 20"]
        lines += [f"call {n}, {n + 1}" for n in range(3, 2 + depth)]
        lines += ["add r0, c90, r0"]
        lines += ["nop"] * (20 - len(lines)) + ["mov o0, r0", "end"]
        return "\n".join(lines)

    assert total(run(text(1), uniforms=ONES)) == 1
    assert total(run(text(2), uniforms=ONES)) == 1
    assert total(run(text(3), uniforms=ONES)) == 1
    # The fourth return gets lost: the program continues after the call of the third procedure, at 3, and calls again.
    assert run(text(4), uniforms=ONES, numpy=False)[0, 0, 0] != 1
    assert total(run(text(4), uniforms=ONES, choices={"shader.stacks": "single"})) == 1


def test_a_full_call_stack_forgets_its_oldest_entry(run: Run) -> None:
    procs = "\n".join(
        f".proc p{n} \n add r0, c90, r0 \n {f'call p{n + 1}' if n < 5 else 'nop'} \n add r0, c91, r0 \n .endproc"
        for n in reversed(range(1, 6))
    )
    # Five deep: the return to main is gone, so control runs on after p1, where main stands: p1 is called again, and so
    # on forever. With a single stack of sixteen entries nothing is forgotten.
    text = procs + "\n main: \n call p1 \n mov o0, r0 \n end"
    assert run(text, uniforms=ONES, numpy=False).hung.all()
    assert total(run(text, uniforms=ONES, choices={"shader.stacks": "single"})) == 55


@pytest.mark.parametrize("b0", [0, 1])
@pytest.mark.parametrize("b1", [0, 1])
def test_conditions_by_booleans(run: Run, b0: int, b1: int) -> None:
    text = """
        ifu b0
            add r0, c90, r0
            ifu b1
                add r0, c91, r0
                nop
            else
                add r0, c92, r0
                nop
            endif
        else
            add r0, c93, r0
            nop
        endif
        add r0, c90, r0
        mov o0, r0
        end
    """
    result = run(text, uniforms=ONES, bool_uniforms=[b0, b1] + [0] * 14)
    assert total(result) == (1 + (10 if b1 else 100) if b0 else 1000) + 1


@pytest.mark.parametrize(
    "op", ["cmp.x", "cmp.y", "cmp.x && cmp.y", "cmp.x || cmp.y", "!cmp.x && cmp.y", "cmp.x || !cmp.y"]
)
def test_conditions_by_comparison_part_the_vertices(run: Run, op: str) -> None:
    text = f"""
        cmp v0, lt, ge, v1
        ifc {op}
            mov o0, c90
            nop
        else
            mov o0, c91
            nop
        endif
        add o1, v0, v0
        end
    """
    left, right = np.arange(20) % 3, np.arange(20) % 5
    v0 = np.stack([left, left, left, left], 1).astype(np.float32)
    v1 = np.stack([right, right, right, right], 1).astype(np.float32)
    result = run(text, v0, v1, n=20, uniforms=ONES)
    x, y = left < right, left >= right
    holds = {
        "cmp.x": x, "cmp.y": y, "cmp.x && cmp.y": x & y, "cmp.x || cmp.y": x | y, "!cmp.x && cmp.y": ~x & y,
        "cmp.x || !cmp.y": x | ~y,
    }[op]  # fmt: skip
    assert result[:, 0, 0].tolist() == np.where(holds, 1, 10).tolist()
    assert result[:, 1].tolist() == (2 * v0).tolist()
    assert (result.conditions == np.stack([x, y], 1)).all()


def test_vertices_that_part_in_loops_meet_again(run: Run) -> None:
    text = """
        loop i0
            add r0, c90, r0
            cmp v0, le, le, r0
            breakc cmp.x
            add r1, r0, r1
            nop
        endloop
        add r1, c92, r1
        mov o0, r1
        end
    """
    limits = np.arange(13, dtype=np.float32)
    result = run(text, np.repeat(limits[:, None], 4, 1), n=13, uniforms=ONES, int_uniforms=LOOPS)
    expected = [100 + sum(range(1, int(min(max(n, 1), 6)))) for n in limits]
    assert result[:, 0, 0].tolist() == expected
    # aL of a vertex that broke out is that of its round.
    assert result.address[:, 2].tolist() == [10 + 2 * min(max(int(n) - 1, 0), 5) for n in limits]


def test_a_jump_counts_only_if_no_block_ends_behind_it(run: Run) -> None:
    # The jump is the last word of the block, so the block's end wins over it.
    text = """
        ifu b0, otherwise, after
        add r0, c90, r0
        jmpu !b1, far
        otherwise:
        add r0, c91, r0
        after:
        add r0, c92, r0
        far:
        mov o0, r0
        end
    """
    assert total(run(text, uniforms=ONES, bool_uniforms=[1] + [0] * 15)) == 101
    single = run(text, uniforms=ONES, bool_uniforms=[1] + [0] * 15, choices={"shader.stacks": "single"})
    assert total(single) == 1
    assert total(run(text, uniforms=ONES)) == 110


def test_jumps_leave_entries_that_do_no_harm(run: Run) -> None:
    text = """
        loop i1
            ifu b0
                add r0, c90, r0
                jmpu !b1, on
                add r0, c93, r0
                nop
            endif
            add r0, c92, r0
            on:
            add r0, c91, r0
            nop
        endloop
        mov o0, r0
        end
    """
    assert total(run(text, uniforms=ONES, int_uniforms=LOOPS, bool_uniforms=[1] + [0] * 15)) == 3 * 11


def test_jumps_out_of_the_memory_and_its_end_end_the_program(run: Run) -> None:
    assert total(run("mov o0, c90 \n jmpu !b0, 4000 \n mov o0, c91 \n end", uniforms=ONES)) == 1
    assert total(run("mov o0, c90", uniforms=ONES)) == 1


def test_a_program_that_is_too_complex_is_interpreted() -> None:
    # Jumps to and fro under ever other entries of the if stack make every address many places.
    wide = []
    for n in range(40):
        wide += [0x27 << 26 | n % 16 << 22 | (2 * n + 90) << 10 | n % 7, 0x2C << 26 | ((n * 7) % 80) << 10 | 2 << 22]
    program = Program(wide, [0] * 128, tier="auto")
    result = program.run(np.zeros((9000, 16, 4), np.float32), conditions=(1, 0))
    assert result.shape == (9000, 16, 4)
    with pytest.raises(UsageError, match="cannot be specialised"):
        Program(wide, [0] * 128, tier="specialised")
