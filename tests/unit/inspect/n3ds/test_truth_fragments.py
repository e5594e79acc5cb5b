"""What `why` says of fragments is held to registers written bit by bit, and to a slow model of the tests.

Bits, names and numbers are written down here again, from 3dbrew's page of internal registers, so that a wrong row of
the tables or a name that belongs to another register is noticed.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.why import Fragment

SIDE, TEXTURE = 8, 8
PROGRAM = ".out o0 position\n.out o1 color\n.out o2.xy texcoord0\nmain:\nmov o0, v0\nmov o1, v1\nmov o2.xy, v1\nend"
ALPHA_TEST, STENCIL_TEST, STENCIL_OP, DEPTH_COLOR_MASK = 0x104, 0x105, 0x106, 0x107
BLENDING, BLEND_FUNC, LOGIC_OP = 0x100, 0x101, 0x102
COLOR_WRITE, DEPTH_WRITE = 0x113, 0x115
STAGES = (0xC0, 0xC8, 0xD0, 0xD8, 0xF0, 0xF8)
"""The first register of each combiner stage: sources, operands, operations, constant colour, scale."""

COMPARE = ("never", "always", "equal", "not equal", "less", "less or equal", "greater", "greater or equal")
COMPARISONS: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: False, lambda a, b: True, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip
EQUATIONS = ("add", "subtract", "reverse subtract", "minimum", "maximum", "add, code 5", "add, code 6", "add, code 7")
FACTORS = (
    "zero", "one", "source color", "1 - source color", "destination color", "1 - destination color", "source alpha",
    "1 - source alpha", "destination alpha", "1 - destination alpha", "constant color", "1 - constant color",
    "constant alpha", "1 - constant alpha", "source alpha, saturated",
)  # fmt: skip
LOGIC = (
    "clear", "and", "and reverse", "copy", "set", "copy inverted", "keep", "invert", "nand", "or", "nor", "xor",
    "equivalent", "and inverted", "or reverse", "or inverted",
)  # fmt: skip
SOURCES = {
    0: "vertex color", 1: "fragment primary color", 2: "fragment secondary color", 3: "texture 0", 4: "texture 1",
    5: "texture 2", 6: "texture 3 (procedural)", 13: "combiner buffer", 14: "constant", 15: "previous stage",
}  # fmt: skip
RGB_OPERANDS = {
    0: "rgb", 1: "1 - rgb", 2: "alpha", 3: "1 - alpha", 4: "red", 5: "1 - red", 8: "green", 9: "1 - green", 12: "blue",
    13: "1 - blue",
}  # fmt: skip
ALPHA_OPERANDS = ("alpha", "1 - alpha", "red", "1 - red", "green", "1 - green", "blue", "1 - blue")
OPERATIONS = (
    "replace", "modulate", "add", "add signed", "interpolate", "subtract", "dot3 rgb", "dot3 rgba", "multiply then add",
    "add then multiply",
)  # fmt: skip
SCALES = ("x1", "x2", "x4")
TEXTURES = (
    "RGBA8", "RGB8", "RGB5A1", "RGB565", "RGBA4", "IA8", "HILO8", "I8", "A8", "IA44", "I4", "A4", "ETC1", "ETC1A4",
)  # fmt: skip
WRAPS = (
    "clamp to edge", "clamp to border", "repeat", "mirrored repeat", "repeat below, edge above",
    "repeat below, border above", "repeat, code 6", "repeat, code 7",
)  # fmt: skip
FILTERS = ("nearest", "linear")

# All tests pass, stage 0 passes its first source on, and blending replaces.
BASE = {
    BLENDING: 0xE4 << 16 | 1 << 8, BLEND_FUNC: 1 << 16 | 1 << 24, LOGIC_OP: 3, ALPHA_TEST: 1 | 1 << 4,
    STENCIL_TEST: 1 | 1 << 4 | 0xFF << 8 | 0xFF << 24, STENCIL_OP: 0, DEPTH_COLOR_MASK: 1 | 1 << 4 | 0x1F << 8,
    COLOR_WRITE: 15, DEPTH_WRITE: 3,
}  # fmt: skip
Words = dict[int, int]


def scene(folder: Path, draws: list[tuple[Words, float]]) -> Inspection:
    """Triangles over all of a small target, each with register words of its own, and a depth."""
    capture = CaptureBuilder()
    target, depth = (capture.allocate(SIDE * SIDE * 4, region="VRAM") for _ in range(2))
    texture = capture.put(bytes(range(256)) * 16)
    cl = CommandList().plain_state().render_target(target, SIDE, SIDE, depth=depth).shader(assemble(PROGRAM))
    cl.texture(0, texture, TEXTURE, TEXTURE)
    for words, z in draws:
        for number, word in (BASE | words).items():
            cl.write_word(number, word)
        corners = [(-1, -1), (3, -1), (-1, 3)]
        cl.draw_immediate([[(x, y, -z, 1), (0.2, 0.4, 0.6, 0.8)] for x, y in corners])
    capture.fill(target, target + SIDE * SIDE * 4, 0x55AA3377).fill(depth, depth + SIDE * SIDE * 4, 0)
    capture.submit(cl.end_drawing()).end_frame()
    capture.save(folder / "scene.ctf")
    return pocketgpu.debug(folder / "scene.ctf")


def fragments(run: Inspection, count: int) -> list[Fragment]:
    """The fragment of each draw on one pixel."""
    answer = run.why(f"f0/d{count - 1}/px2,5")
    assert answer.proved
    found = [fragment for touch in answer.all_touches() for fragment in touch.fragments]
    assert len(found) == count
    return found


# -- names ------------------------------------------------------------------------------------------------------------
Name = tuple[str, Words, tuple[Any, ...], Any]
"""Words of registers, where the answer has a value, and the value."""


def codes(
    title: str, register: int, low: int, names: Any, where: tuple[Any, ...], width: int = 4, **more: int
) -> Iterator[Name]:
    """Each code of a field: its register is as in BASE but for the field."""
    listed = names.items() if isinstance(names, dict) else enumerate(names)
    others = {int(name[1:], 16): word for name, word in more.items()}
    for code, text in listed:
        word = (BASE | others).get(register, 0) & ~((1 << width) - 1 << low) | code << low
        yield f"{title} {code}", others | {register: word}, where, text


def all_names() -> Iterator[Name]:
    for test, register in (("alpha", ALPHA_TEST), ("stencil", STENCIL_TEST), ("depth", DEPTH_COLOR_MASK)):
        yield from codes(test, register, 4, COMPARE, (f"{test} test", "function"), 3)
    for part, equation, source, target in (("rgb", 0, 16, 20), ("alpha", 8, 24, 28)):
        yield from codes(f"equation {part}", BLEND_FUNC, equation, EQUATIONS, ("blend", part, "equation"), 3)
        yield from codes(f"source {part}", BLEND_FUNC, source, FACTORS, ("blend", part, "source_factor"))
        yield from codes(f"target {part}", BLEND_FUNC, target, FACTORS, ("blend", part, "target_factor"))
    yield from codes("logic", LOGIC_OP, 0, LOGIC, ("blend", "logic_operation"), x100=0xE4 << 16)
    for n, first in enumerate(STAGES):
        three = {f"x{first + 2:x}": 8 | 8 << 16}  # an operation of three operands
        for part, at, operands, step in (("rgb", 0, RGB_OPERANDS, 0), ("alpha", 16, ALPHA_OPERANDS, 12)):
            stage = (f"combiner {n}", part)
            yield from codes(f"operation {n} {part}", first + 2, at, OPERATIONS, (*stage, "operation"))
            yield from codes(f"scale {n} {part}", first + 4, at, SCALES, (*stage, "scale"), 2)
            for i in range(3):
                own = (*stage, "operands", i)
                yield from codes(f"source {n} {part}{i}", first, at + 4 * i, SOURCES, (*own, "source"), **three)
                yield from codes(
                    f"operand {n} {part}{i}", first + 1, step + 4 * i, operands, (*own, "operand"),
                    4 if part == "rgb" else 3, **three,
                )  # fmt: skip
        yield f"constant {n}", {first + 3: 0x44332211}, (f"combiner {n}", "constant"), [0x11, 0x22, 0x33, 0x44]
    sampled = {"x80": 1 | 1 << 12, "xc0": 3 | 3 << 16}
    yield from codes("format", 0x8E, 0, TEXTURES, ("texture 0", "format"), **sampled)
    for part, low in (("wrap_s", 12), ("wrap_t", 8)):
        yield from codes(part, 0x83, low, WRAPS, ("texture 0", part), 3, **sampled)
    for part, low in (("mag_filter", 1), ("min_filter", 2)):
        yield from codes(part, 0x83, low, FILTERS, ("texture 0", part), 1, **sampled)
    base = {0x80: 1 | 1 << 12, 0xC0: 3 | 3 << 16}
    yield "size", base | {0x82: 16 << 16 | 32}, ("texture 0", "size"), [16, 32]
    yield "address", base | {0x85: 0x20000080 >> 3}, ("texture 0", "address"), "0x20000080"
    yield "fog", {0xE0: 5, 0xE1: 0x332211}, ("fog", "color"), [0x11, 0x22, 0x33]
    lit = {0x8F: 1, 0x1C6: 0, 0x1C2: 2, STAGES[0]: 1 | 1 << 16}  # three lights
    for slots in ((0, 1, 2), (7, 3, 5), (6, 6, 1)):
        words = lit | {0x1D9: sum(light << 4 * slot for slot, light in enumerate(slots))}
        for slot, light in enumerate(slots):
            yield f"light {slots} {slot}", words, ("lighting", "lights", slot, "light"), light
            yield f"light {slots} in {slot}", words, ("lighting", "lights", slot, "slot"), slot
    for bit, channel in enumerate("rgba"):
        word = BASE[DEPTH_COLOR_MASK] & ~(1 << 8 + bit)
        for other in "rgba":
            yield f"masked {channel} {other}", {DEPTH_COLOR_MASK: word}, ("write mask", other), other != channel
        yield f"no colours {channel}", {COLOR_WRITE: 0}, ("write mask", channel), False
    for words in ({DEPTH_COLOR_MASK: BASE[DEPTH_COLOR_MASK] & ~(1 << 12)}, {DEPTH_WRITE: 1}):
        yield f"no depth {words}", words, ("write mask", "depth"), False
    yield "only depth", {DEPTH_WRITE: 2}, ("write mask", "depth"), True


# What each draw puts back that the one before it may have changed and BASE does not have.
RESET = {
    0x80: 1 << 12, 0x82: TEXTURE << 16 | TEXTURE, 0x83: 0, 0x8E: 0,
    **{first + n: word for first in STAGES for n, word in enumerate((15 | 15 << 16, 0, 0, 0, 0))},
    STAGES[0]: 0, 0xE0: 0, 0x8F: 0, 0x1C2: 0, 0x1C6: 1, 0x1D9: 0,
}  # fmt: skip
NAMES = list(all_names())
GROUPS = sorted({name.split(" ")[0] for name, *_ in NAMES})


@pytest.mark.parametrize("group", GROUPS)
def test_names_follow_the_bits_of_their_registers(tmp_path: Path, group: str) -> None:
    """Each code of each field of registers that an answer names, in a draw of its own."""
    names = [one for one in NAMES if one[0].split(" ")[0] == group]
    run = scene(tmp_path, [(RESET | words, 0.5) for _, words, _, _ in names])
    for (title, words, (stage, *path), wanted), fragment in zip(names, fragments(run, len(names)), strict=True):
        found = fragment.stage(stage)
        assert found is not None, (title, words, fragment.fate)
        value = found.values
        for key in path:
            value = value[key]
        assert value == wanted, (title, words)


def test_all_names_are_asked_for() -> None:
    assert len(NAMES) > 900 and len({name for name, *_ in NAMES}) == len(NAMES)


# -- values -----------------------------------------------------------------------------------------------------------
def updated(action: int, old: int, reference: int) -> int:
    """A stencil value after an action: keep, zero, replace, up, down, invert, up and down around."""
    return (
        old, 0, reference, min(old + 1, 255), max(old - 1, 0), ~old & 255, old + 1 & 255, old - 1 & 255,
    )[action]  # fmt: skip


class Pixel:
    """A pixel of colour, depth and stencil, and what a draw with some register words does to it."""

    def __init__(self) -> None:
        self.stencil = self.depth = 0

    def draw(self, words: Words, alpha: int, depth: int) -> dict[str, tuple[int, str, int, bool]]:
        """(incoming, function, stored, passed) of each test that is on, up to the first that fails."""
        found = {}
        test, masks = words[STENCIL_TEST], words[DEPTH_COLOR_MASK]
        function, reference = words[ALPHA_TEST] >> 4 & 7, words[ALPHA_TEST] >> 8 & 255
        if words[ALPHA_TEST] & 1:
            found["alpha test"] = (alpha, COMPARE[function], reference, COMPARISONS[function](alpha, reference))
            if not found["alpha test"][3]:
                return found
        action = 10
        if test & 1:
            function, write, reference, mask = test >> 4 & 7, test >> 8 & 255, test >> 16 & 255, test >> 24
            own, other = reference & mask, self.stencil & mask
            found["stencil test"] = (own, COMPARE[function], other, COMPARISONS[function](own, other))
            action = 8 if found["stencil test"][3] else 0
        if action:
            function = masks >> 4 & 7
            found["depth test"] = (depth, COMPARE[function], self.depth, COMPARISONS[function](depth, self.depth))
            action = 8 if found["depth test"][3] else 4
        passed = all(one[3] for one in found.values())
        if test & 1 and words[DEPTH_WRITE] & 3:
            new = updated(words[STENCIL_OP] >> action & 7, self.stencil, test >> 16 & 255)
            self.stencil = new & write | self.stencil & ~write
        if passed and masks >> 12 & 1 and words[DEPTH_WRITE] & 2:
            self.depth = depth
        return found


def some_words(r: random.Random) -> Words:
    def byte() -> int:
        return r.choice([0, 1, 2, 0x0F, 0x7F, 0x80, 0xF0, 0xFE, 0xFF, r.randrange(256)])

    def often() -> int:
        return r.choice([*range(8), 1, 1, 1])

    return {
        ALPHA_TEST: r.choice([0, 1]) | often() << 4 | r.choice([99, 100, 101, 255]) << 8,
        STENCIL_TEST: r.choice([0, 1, 1, 1]) | often() << 4 | byte() << 8 | byte() << 16 | byte() << 24,
        STENCIL_OP: r.randrange(8) | r.randrange(8) << 4 | r.randrange(8) << 8,
        DEPTH_COLOR_MASK: 1 | often() << 4 | r.randrange(32) << 8,
        DEPTH_WRITE: r.choice([0, 1, 2, 3, 3, 3]),
        STAGES[0]: 14 | 14 << 16, STAGES[0] + 3: 100 << 24,  # the constant, whose alpha is 100
    }  # fmt: skip


REGISTERS = {
    "alpha test": "FRAGOP_ALPHA_TEST.function", "stencil test": "STENCIL_TEST.function",
    "depth test": "DEPTH_COLOR_MASK.depth_function",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_tests_of_fragments_are_those_of_a_slow_model(tmp_path: Path, seed: int) -> None:
    """Every function, action, reference and mask of the alpha, stencil and depth tests, one draw after the other."""
    r = random.Random(f"tests of fragments {seed}")
    draws = [(some_words(r), r.choice([0.25, 0.5, 0.75])) for _ in range(60)]
    run = scene(tmp_path, draws)
    pixel, seen = Pixel(), set()
    for (words, z), fragment in zip(draws, fragments(run, len(draws)), strict=True):
        before = f"{pixel.stencil:02x}{pixel.depth:06x}"
        tests = pixel.draw(words, 100, int(z * 0xFFFFFF))
        after = f"{pixel.stencil:02x}{pixel.depth:06x}"
        found = {stage.name: stage.values for stage in fragment.stages if stage.name in REGISTERS}
        said = (f"{words}", fragment.fate)
        if "stencil test" in tests:
            assert found.keys() <= tests.keys(), said
        for name, values in found.items():
            if name in tests:  # without stencil, depth is tested first; the model ends at the first that fails
                own = (values["incoming"], values["function"], values["stored"], values["passed"])
                if values["incoming"] is None:  # always, and nobody reads or writes depth: nothing is compared
                    assert (name, values["function"], values["stored"]) == ("depth test", "always", None), said
                    assert not words[STENCIL_TEST] & 1, said
                    assert not words[DEPTH_COLOR_MASK] >> 12 & words[DEPTH_WRITE] >> 1 & 1, said
                else:
                    assert own == tests[name], (name, said)
            assert values["register"] == REGISTERS[name]
        if "stencil test" in found:
            assert found["stencil test"]["after"] == pixel.stencil, said
        assert fragment.stage("bytes").values["depth"] == [before, after], said
        rejecting = [name for name, one in tests.items() if not one[3]]
        if rejecting:
            # It ends with the test that it failed, and nothing is said of what comes after it.
            (name,) = (name for name in found if not found[name]["passed"])
            assert name == list(found)[-1], said
            assert fragment.stage("blend") is None and fragment.stage("write mask") is None, said
            values = found[name]
            text = f"{values['incoming']} {values['function']} {values['stored']} is false ({values['register']})"
            assert fragment.fate == f"rejected by the {name}: {text}", said
            assert not fragment.written
        else:
            assert not fragment.fate.startswith("rejected"), said
        seen |= {(name, one[1], one[3]) for name, one in tests.items()}
    assert len(seen) > 20


@pytest.mark.parametrize("z", [0.25, 0.75])
@pytest.mark.parametrize("action", range(8))
def test_each_action_of_each_outcome(tmp_path: Path, action: int, z: float) -> None:
    """fail, z_fail and z_pass have their own actions, and only the one of the outcome happens."""
    draws, wanted = [], []
    for place, function, depth in ((0, 0, 1), (4, 1, 0), (8, 1, 1)):
        for old in (0, 1, 0x5A, 0xFE, 0xFF):
            set_up = {
                STENCIL_TEST: 1 | 1 << 4 | 0xFF << 8 | old << 16 | 0xFF << 24, STENCIL_OP: 2 << 8,
                DEPTH_COLOR_MASK: 1 | 1 << 4,
            }  # fmt: skip
            others = [2 if n != place else action for n in (0, 4, 8)]
            word = others[0] | others[1] << 4 | others[2] << 8
            case = {
                STENCIL_TEST: 1 | function << 4 | 0xFF << 8 | 0x33 << 16 | 0xFF << 24, STENCIL_OP: word,
                DEPTH_COLOR_MASK: 1 | depth << 4,
            }  # fmt: skip
            draws += [(set_up, z), (case, z)]
            wanted.append((old, updated(action, old, 0x33)))
    found = fragments(scene(tmp_path, draws), len(draws))[1::2]
    for (old, new), fragment in zip(wanted, found, strict=True):
        values = fragment.stage("stencil test").values
        assert (values["stored"], values["incoming"], values["after"]) == (old, 0x33, new)
        assert fragment.stage("bytes").values["depth"] == [f"{old:02x}000000", f"{new:02x}000000"]


# -- where a fragment may be ------------------------------------------------------------------------------------------
MODES = ("off", "keep outside", "off, code 2", "keep inside")


@pytest.mark.parametrize("seed", range(4))
def test_the_scissor_of_a_fragment_is_named_with_its_sides(tmp_path: Path, seed: int) -> None:
    """Each mode and random rectangles: a fragment is left out where the rectangle says, in rows of memory."""
    r = random.Random(f"scissor {seed}")
    draws, boxes = [], []
    for n in range(24):
        (x1, x2), (y1, y2) = (sorted(r.choices(range(SIDE), k=2)) for _ in range(2))
        boxes.append((n % 4, x1, y1, x2, y2))
        draws.append(({0x65: n % 4, 0x66: x1 | y1 << 16, 0x67: x2 | y2 << 16}, 0.5))
    run = scene(tmp_path, draws)
    x, y = r.randrange(SIDE), r.randrange(SIDE)
    answer = run.why(f"f0/d{len(draws) - 1}/px{x},{y}")
    found = [fragment for touch in answer.all_touches() for fragment in touch.fragments]
    assert answer.proved and len(found) == len(draws)
    for (mode, x1, y1, x2, y2), fragment in zip(boxes, found, strict=True):
        inside = x1 <= x <= x2 and y1 <= y <= y2
        said = (mode, x1, y1, x2, y2, x, y, fragment.fate)
        if mode == 3 and not inside:
            place = f"columns {x1} to {x2}, rows {SIDE - 1 - y2} to {SIDE - 1 - y1} of memory"
            assert fragment.fate == f"outside of {place} (SCISSORTEST_MODE {MODES[mode]})", said
        elif mode == 1 and inside:
            assert fragment.fate == f"left out by the scissor (SCISSORTEST_MODE {MODES[mode]})", said
        else:
            assert fragment.fate.startswith("written"), said
