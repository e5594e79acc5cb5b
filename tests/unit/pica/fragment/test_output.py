"""Alpha, stencil and depth tests, blending, logic operations, masks and buffer formats against an integer model.

Every pixel has a random source colour (a texture), random stored colour, depth and stencil. Source: 3dbrew
GPU/Internal Registers ("Framebuffer registers"); truncation and order as the public software models have them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

# General code draws any state, specialised code one: both must match the models here.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

SIZE = 32
DEPTH_VALUE = 0.5  # z/w = -0.5 with the usual depth map
COMPARE = {
    0: lambda a, b: a != a, 1: lambda a, b: a == a, 2: lambda a, b: a == b, 3: lambda a, b: a != b, 4: lambda a,
    b: a < b,
    5: lambda a, b: a <= b, 6: lambda a, b: a > b, 7: lambda a, b: a >= b,
}  # fmt: skip
FIELDS = {  # colour formats of the core: lowest bit and width of r, g, b, a
    0: ((24, 8), (16, 8), (8, 8), (0, 8)), 1: ((16, 8), (8, 8), (0, 8), None), 2: ((11, 5), (6, 5), (1, 5), (0, 1)),
    3: ((11, 5), (5, 6), (0, 5), None), 4: ((12, 4), (8, 4), (4, 4), (0, 4)),
}  # fmt: skip
BITS = {0: 16, 2: 24, 3: 24}


@dataclass(frozen=True)
class State:
    """Registers of the fragment end; the defaults write everything plainly."""

    alpha: tuple[int, int, int] = (0, 1, 0)  # enable, function, reference
    stencil: tuple[int, int, int, int, int] = (0, 1, 0, 0xFF, 0xFF)  # enable, function, reference, input, write mask
    stencil_ops: tuple[int, int, int] = (0, 0, 0)  # fail, depth fail, pass
    depth: tuple[int, int, int] = (0, 1, 0)  # test, function, write
    masks: int = 15
    blend: bool = False
    logic: int = 3
    equations: tuple[int, int] = (0, 0)  # colour, alpha
    factors: tuple[int, int, int, int] = (1, 0, 1, 0)  # source, target for colour; the same for alpha
    constant: tuple[int, int, int, int] = field(default=(10, 90, 170, 250))
    color_write: int = 15
    depth_read: int = 3
    depth_write: int = 3

    def put(self, gpu: Any) -> None:
        """Write the registers."""
        on, function, reference, reads, writes = self.stencil
        gpu.set(
            FRAGOP_ALPHA_TEST=self.alpha[0] | self.alpha[1] << 4 | self.alpha[2] << 8,
            STENCIL_TEST=on | function << 4 | writes << 8 | reference << 16 | reads << 24,
            STENCIL_OP=self.stencil_ops[0] | self.stencil_ops[1] << 4 | self.stencil_ops[2] << 8,
            DEPTH_COLOR_MASK=self.depth[0] | self.depth[1] << 4 | self.masks << 8 | self.depth[2] << 12,
            COLOR_OPERATION=0x00E40000 | self.blend << 8, LOGIC_OP=self.logic,
            BLEND_FUNC=self.equations[0] | self.equations[1] << 8 | sum(f << 16 + 4 * i for i,
            f in enumerate(self.factors)),
            BLEND_COLOR=sum(c << 8 * i for i, c in enumerate(self.constant)),
            COLORBUFFER_WRITE=self.color_write, DEPTHBUFFER_READ=self.depth_read, DEPTHBUFFER_WRITE=self.depth_write,
        )  # fmt: skip


def expand(words: np.ndarray, form: int) -> np.ndarray:
    """Colour words to channels of 8 bits; missing alpha is 255."""
    out = []
    for place in FIELDS[form]:
        if place is None:
            out.append(np.full(words.shape, 255))
            continue
        lo, width = place
        v = (words >> lo & (1 << width) - 1).astype(np.int64)
        out.append({8: v, 6: v << 2 | v >> 4, 5: v << 3 | v >> 2, 4: v * 17, 1: v * 255}[width])
    return np.stack(out, axis=-1)


def contract(colors: np.ndarray, form: int) -> np.ndarray:
    """Channels to words; bits that do not fit are cut off."""
    word = np.zeros(colors.shape[:-1], np.int64)
    for i, place in enumerate(FIELDS[form]):
        if place is not None:
            word |= colors[..., i] >> 8 - place[1] << place[0]
    return word


def factor(code: int, s: np.ndarray, d: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Blend factors of all four channels."""
    one = np.full(s.shape, 255)
    alpha = lambda c: np.repeat(c[..., 3:], 4, axis=-1)  # noqa: E731
    c = np.broadcast_to(constant, s.shape)
    saturate = np.minimum(alpha(s), 255 - alpha(d))
    saturate[..., 3] = 255
    plain = [one, s, d, alpha(s), alpha(d), c, alpha(c)]
    table = {0: one * 0, 1: one, 14: saturate, 15: one}
    for i, value in enumerate(plain[1:]):
        table[2 + 2 * i], table[3 + 2 * i] = value, 255 - value
    return table[code]


def equation(code: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of the products, not yet divided."""
    value = {1: a - b, 2: b - a, 3: np.minimum(a, b), 4: np.maximum(a, b)}.get(code, a + b)
    return np.clip(np.where(value < 0, 0, value) // 255, 0, 255)


def logic(op: int, s: np.ndarray, d: np.ndarray) -> np.ndarray:
    n = 255
    return [
        s & 0, s & d, s & ~d, s, s | n, ~s, d, ~d, ~(s & d), s | d, ~(s | d), s ^ d, ~(s ^ d), ~s & d, s | ~d, ~s | d,
    ][op] & n  # fmt: skip


def stencil_result(op: int, stored: np.ndarray, reference: int) -> np.ndarray:
    return [
        stored, stored * 0, stored * 0 + reference, np.minimum(stored + 1, 255), np.maximum(stored - 1, 0),
        stored ^ 255,
        stored + 1 & 255, stored - 1 & 255,
    ][op]  # fmt: skip


def model(
    state: State, source: np.ndarray, color: np.ndarray, depth: np.ndarray, form: int, depth_form: int
) -> tuple[np.ndarray, np.ndarray]:
    """New colour and depth words: alpha test, stencil, depth, then the buffers."""
    alive = np.ones(color.shape, bool)
    if state.alpha[0]:
        alive &= COMPARE[state.alpha[1]](source[..., 3], state.alpha[2])
    bits = BITS[depth_form]
    top = (1 << bits) - 1
    incoming = np.full(depth.shape, int(DEPTH_VALUE * top))
    stored = depth.astype(np.int64) & top
    depth_ok = np.ones(color.shape, bool)
    if state.depth[0]:
        depth_ok = COMPARE[state.depth[1]](incoming, stored if state.depth_read & 2 else stored * 0)
    new_stencil = old_stencil = depth.astype(np.int64) >> 24
    if state.stencil[0] and depth_form == 3:
        _, function, reference, reads, writes = state.stencil
        passes = COMPARE[function](np.full(depth.shape, reference & reads), old_stencil & reads)
        results = [stencil_result(op, old_stencil, reference) for op in state.stencil_ops]
        fresh = np.where(passes, np.where(depth_ok, results[2], results[1]), results[0])
        if state.depth_write & 3:  # either bit: test.stencil_write
            new_stencil = np.where(alive, fresh & writes | old_stencil & ~writes, old_stencil)
        alive = alive & passes
    alive &= depth_ok
    new_depth = stored
    if state.depth[2] and state.depth_write & 2:
        new_depth = np.where(alive, incoming, stored)
    target = expand(color, form)
    if state.blend:
        constant = np.array(state.constant)
        parts = []
        for part, code in enumerate(state.equations):
            a = source * factor(state.factors[2 * part], source, target, constant)
            b = target * factor(state.factors[2 * part + 1], source, target, constant)
            parts.append(equation(code, a, b))
        result = np.concatenate([parts[0][..., :3], parts[1][..., 3:]], axis=-1)
    else:
        result = logic(state.logic, source, target)
    written = [bool(state.masks >> i & 1) and state.color_write != 0 for i in range(4)]
    result = np.where(written, result, target)
    new_color = np.where(alive, contract(result, form), color) if any(written) else color
    return new_color, new_depth | (new_stencil << 24 if depth_form == 3 else 0)


class Bench:
    """A machine whose pixels have random sources and random buffers."""

    def __init__(self, gpu: Any, form: int = 0, depth_form: int = 3, seed: int = 0) -> None:
        self.gpu, self.form, self.depth_form = gpu, form, depth_form
        gpu.target(SIZE, SIZE, color=form, depth=depth_form)
        random = np.random.default_rng(seed)
        values = np.array([0, 1, 2, 127, 128, 129, 254, 255])

        def pick() -> np.ndarray:
            shape = (SIZE, SIZE, 4)
            special = random.choice(values, shape)
            return np.where(random.random(shape) < 0.3, special, random.integers(0, 256, shape))

        self.source, self.color = pick(), contract(pick(), form)
        top = (1 << BITS[depth_form]) - 1
        near = int(DEPTH_VALUE * top) + random.integers(-2, 3, (SIZE, SIZE))
        self.depth = np.where(random.random((SIZE, SIZE)) < 0.6, near, random.integers(0, top + 1, (SIZE, SIZE)))
        if depth_form == 3:
            self.depth = self.depth | pick()[..., 0] << 24
        gpu.texture(0, (self.source << np.array([24, 16, 8, 0])).sum(axis=-1).astype(np.uint32))
        gpu.set(TEXUNIT_CONFIG=0x1001)
        gpu.stage(0, 0, (3, 3, 3))

    def check(self, state: State) -> None:
        """Draw over the buffers; both must end up as the model has them."""
        gpu = self.gpu
        gpu.put_color(self.color.astype(np.uint32))
        gpu.put_depth(self.depth.astype(np.uint32))
        state.put(gpu)
        gpu.quad()
        gpu.run()
        color, depth = model(state, self.source, self.color, self.depth, self.form, self.depth_form)
        for name, got, expected, before in (
            ("color", gpu.color_words(), color, self.color), ("depth", gpu.depth_words(), depth, self.depth),
        ):  # fmt: skip
            wrong = np.argwhere(got != expected)
            assert not len(wrong), (
                name, state, len(wrong), *(f"{int(a[tuple(wrong[0])]):08x}" for a in (got, expected, before)),
                self.source[tuple(wrong[0])],
            )  # fmt: skip


@pytest.fixture
def bench(gpu: Any) -> Bench:
    return Bench(gpu)


# -- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", range(8))
def test_alpha_test_compares_the_pixel_with_the_reference(bench: Bench, function: int) -> None:
    for reference in (0, 1, 128, 254, 255):
        bench.check(State(alpha=(1, function, reference), depth=(0, 0, 1)))


@pytest.mark.parametrize("function", range(8))
@pytest.mark.parametrize("form", [0, 2, 3])
def test_depth_test_compares_the_pixel_with_the_buffer(gpu: Any, function: int, form: int) -> None:
    bench = Bench(gpu, depth_form=form)
    bench.check(State(depth=(1, function, 1)))
    bench.check(State(depth=(1, function, 0)))


@pytest.mark.parametrize("form", [0, 2, 3])
def test_depth_is_written_with_the_test_off(gpu: Any, form: int) -> None:
    bench = Bench(gpu, depth_form=form)
    bench.check(State(depth=(0, 0, 1)))
    bench.check(State(depth=(0, 0, 0)))
    gpu.put_depth(np.zeros((SIZE, SIZE), np.uint32))
    State(depth=(0, 0, 1)).put(gpu)
    gpu.quad()
    gpu.run()
    assert (gpu.depth_words() == int(DEPTH_VALUE * ((1 << BITS[form]) - 1))).all()


@pytest.mark.parametrize("depth_read", [0, 1, 2])
@pytest.mark.parametrize("function", [4, 6])
def test_depth_that_is_not_read_counts_as_zero(bench: Bench, depth_read: int, function: int) -> None:
    bench.check(State(depth=(1, function, 1), depth_read=depth_read))


@pytest.mark.parametrize("depth_write", range(4))
def test_write_bits_of_depth_and_stencil(bench: Bench, depth_write: int) -> None:
    bench.check(State(depth=(1, 7, 1), stencil=(1, 1, 77, 255, 255), stencil_ops=(2, 2, 2), depth_write=depth_write))


@pytest.mark.parametrize("function", range(8))
def test_stencil_test_compares_the_reference_with_the_buffer(bench: Bench, function: int) -> None:
    for reference, mask in ((128, 255), (127, 0x0F), (255, 0xF0), (3, 0)):
        bench.check(State(stencil=(1, function, reference, mask, 0xFF), stencil_ops=(1, 0, 2)))


@pytest.mark.parametrize("op", range(8))
@pytest.mark.parametrize("place", range(3))
def test_stencil_operations(bench: Bench, op: int, place: int) -> None:
    """On a failed stencil test, a failed depth test, and when both pass."""
    ops = [0, 0, 0]
    ops[place] = op
    bench.check(State(stencil=(1, 4, 128, 255, 255), stencil_ops=(ops[0], ops[1], ops[2]), depth=(1, 6, 1)))


@pytest.mark.parametrize("mask", [0x00, 0x0F, 0x81, 0xF0])
def test_stencil_write_mask_keeps_other_bits(bench: Bench, mask: int) -> None:
    bench.check(State(stencil=(1, 1, 0xA5, 255, mask), stencil_ops=(0, 0, 2)))
    bench.check(State(stencil=(1, 1, 0xA5, 255, mask), stencil_ops=(5, 5, 5)))


def test_stencil_masks_by_hand(gpu: Any) -> None:
    """Input mask in bits 31:24, write mask in 15:8: stored 0x37, reference 0xA7, both masks 0x0F."""
    gpu.put_depth(np.full((16, 16), 0x37000000, np.uint32))
    gpu.write("STENCIL_TEST", 0x0FA70F01 | 2 << 4)  # equal in the low half: 7 == 7
    gpu.write("STENCIL_OP", 5 << 8)  # invert
    gpu.quad()
    gpu.run()
    assert (gpu.depth_words() == 0x38000000).all()
    assert gpu.covered().all()


@pytest.mark.parametrize("form", [0, 2])
def test_stencil_exists_only_beside_24_bits_of_depth(gpu: Any, form: int) -> None:
    bench = Bench(gpu, depth_form=form)
    bench.check(State(stencil=(1, 0, 0, 255, 255), stencil_ops=(1, 1, 1), depth=(1, 6, 1)))


@pytest.mark.parametrize("seed", range(4))
def test_random_states_match_the_model(gpu: Any, seed: int) -> None:
    """Order: alpha, stencil, depth. What fails the alpha test leaves the stencil alone."""
    random = np.random.default_rng(seed)
    draw = lambda n: int(random.integers(0, n))  # noqa: E731
    bench = Bench(gpu, form=seed, depth_form=(3, 3, 2, 0)[seed], seed=seed)
    for _ in range(12):
        state = State(
            (draw(2), draw(8), draw(256)), (draw(2), draw(8), draw(256), draw(256), draw(256)), (draw(8), draw(8),
            draw(8)),
            (draw(2), draw(8), draw(2)), draw(16), bool(draw(2)), draw(16), (draw(8), draw(8)),
            (draw(16), draw(16), draw(16), draw(16)), (draw(256), draw(256), draw(256), draw(256)), draw(16), draw(4),
            draw(4),
        )  # fmt: skip
        bench.check(state)


# -- blending and logic operations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", range(16))
def test_blend_factors(bench: Bench, code: int) -> None:
    bench.check(State(blend=True, factors=(code, 1, (code + 1) % 16, 1)))
    bench.check(State(blend=True, factors=(1, code, 1, (code + 1) % 16)))


@pytest.mark.parametrize("code", range(8))
def test_blend_equations(bench: Bench, code: int) -> None:
    bench.check(State(blend=True, equations=(code, (code + 1) % 8), factors=(6, 7, 4, 5)))
    bench.check(State(blend=True, equations=(code, (code + 3) % 8), factors=(1, 1, 1, 1)))


def test_every_product_of_a_blend_is_cut(make_gpu: Any) -> None:
    """Source colour times source alpha, all 65536 pairs; 128 times 255 is 128."""
    gpu = make_gpu(256, 256)
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    gpu.texture(0, ((a * 0x01010100) | b).astype(np.uint32))
    gpu.set(TEXUNIT_CONFIG=0x1001)
    gpu.stage(0, 0, (3, 3, 3))
    State(blend=True, factors=(6, 0, 0, 1)).put(gpu)
    gpu.quad()
    gpu.run()
    assert (gpu.pixels()[..., 1] == a * b // 255).all()
    assert gpu.pixels()[255, 128, 1] == 128


def test_blending_without_the_blend_bit_is_a_logic_operation(gpu: Any) -> None:
    """Register 0x102 = 0 clears to black, it does not mean plain drawing."""
    gpu.put_color(np.full((16, 16), 0x12345678, np.uint32))
    gpu.set(BLEND_FUNC=0x01010000, LOGIC_OP=0)
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0).all()
    gpu.set(LOGIC_OP=3)
    gpu.quad(color=(1, 0, 0, 1))
    gpu.run()
    assert (gpu.color_words() == 0xFF0000FF).all()


@pytest.mark.parametrize("op", range(16))
def test_logic_operations(bench: Bench, op: int) -> None:
    bench.check(State(logic=op))


@pytest.mark.parametrize("masks", range(16))
def test_channel_masks(bench: Bench, masks: int) -> None:
    bench.check(State(masks=masks, depth=(0, 0, 1)))


@pytest.mark.parametrize("color_write", [0, 1, 2, 8, 15])
def test_colour_write_register_is_all_or_nothing(bench: Bench, color_write: int) -> None:
    bench.check(State(color_write=color_write, depth=(0, 0, 1)))


# -- formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FIELDS)
@pytest.mark.parametrize("depth_form", [0, 2, 3])
def test_buffer_formats(gpu: Any, form: int, depth_form: int) -> None:
    bench = Bench(gpu, form, depth_form)
    for state in (
        State(depth=(1, 6, 1)), State(blend=True, factors=(6, 7, 8, 9)), State(logic=11, masks=0b1010), State(logic=14,
        masks=0b0101),
    ):  # fmt: skip
        bench.check(state)


@pytest.mark.parametrize("form", [5, 6, 7])
def test_undefined_colour_formats_do_no_harm(gpu: Any, form: int) -> None:
    gpu.write("COLORBUFFER_FORMAT", form << 16)
    gpu.quad()
    gpu.run()
    assert gpu.memory.read(0x18000000 + 16 * 16 * 4, 64) == bytes(64)


def test_undefined_depth_format_is_as_if_there_were_no_depth_buffer(gpu: Any) -> None:
    gpu.write("DEPTHBUFFER_FORMAT", 1)
    gpu.set(DEPTH_COLOR_MASK=0x1F61)
    gpu.quad()
    gpu.run()
    assert gpu.covered().all()
    assert gpu.memory.read(0x18200000, 64) == bytes(64)


@pytest.mark.parametrize("form", FIELDS)
@pytest.mark.parametrize(("width", "height"), [(8, 8), (24, 16), (40, 12), (16, 3)])
def test_bytes_around_a_target_survive(gpu: Any, form: int, width: int, height: int) -> None:
    """Widths of whole tiles, heights that are not."""
    size = {0: 4, 1: 3}.get(form, 2)
    gpu.memory.write(0x18000000 - 0 + 0x100000, b"\x5a" * 0x10000)
    gpu.target(width, height, color=form)
    gpu.set(COLORBUFFER_LOC=0x18104000 >> 3, DEPTH_COLOR_MASK=0xF00)
    gpu.quad()
    gpu.run()
    data = gpu.memory.read(0x18100000, 0x10000)
    end = 0x4000 + width * (height + 7 & ~7) * size
    assert data[:0x4000] == b"\x5a" * 0x4000
    assert data[end:] == b"\x5a" * (0x10000 - end)
    assert data[0x4000:end] != b"\x5a" * (end - 0x4000)


def test_two_targets_in_one_list(gpu: Any) -> None:
    """Draws to another target, and back again, keep their order."""
    gpu.quad(color=(1, 0, 0, 1))
    gpu.set(COLORBUFFER_LOC=0x18100000 >> 3)
    gpu.quad(color=(0, 1, 0, 1))
    gpu.set(COLORBUFFER_LOC=0x18000000 >> 3)
    gpu.quad((0, -1, 1, 1), color=(0, 0, 1, 1))
    gpu.run()
    words = gpu.color_words()
    assert (words[:, :8] == 0xFF0000FF).all()
    assert (words[:, 8:] == 0x0000FFFF).all()
    assert (gpu.raw(0x18100000, 4) == 0x00FF00FF).all()


def test_overlapping_targets_in_one_list_keep_their_order(gpu: Any) -> None:
    """The second target starts inside the first: draws must not be mixed."""
    for i in range(6):
        gpu.set(COLORBUFFER_LOC=0x18000000 + 256 * (i % 2) >> 3)
        gpu.quad(color=(i / 255,) * 4)
    gpu.run()
    data = np.frombuffer(gpu.memory.read(0x18000000, 1024 + 256), np.uint8)
    assert (data[:256] == 4).all()
    assert (data[256:] == 5).all()


def test_colour_buffer_used_as_depth_buffer_keeps_order(gpu: Any) -> None:
    gpu.quad(color=(1, 1, 1, 1))
    gpu.set(DEPTHBUFFER_LOC=0x18000000 >> 3, COLORBUFFER_LOC=0x18100000 >> 3, DEPTH_COLOR_MASK=0x1F00)
    gpu.quad()
    gpu.run()
    assert (gpu.raw(0x18000000, 4) == 0xFF7FFFFF).all()
