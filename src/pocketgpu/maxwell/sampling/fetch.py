"""Single texels by their numbers (TLD, TLDS), four around a position (TLD4, TLD4S), and queries (TXQ, TMML)."""

from __future__ import annotations

from functools import partial

from pocketgpu.lanes import I32, Lang, Value, kernel
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.detail import Sampling
from pocketgpu.maxwell.sampling.lookup import Record, Request, each_texture
from pocketgpu.maxwell.sampling.records import Call
from pocketgpu.maxwell.sampling.texels import compared, level_start, load_texel, return_words, texel, texel_offsets


def _same(word: Value) -> Value:
    return word


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, handle=I32)
def fetch(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Texels by number. Outside of the texture they are zero, or what the choice texture.fetch_outside selects."""
    request = Request(k, launch, slot, warp, instruction, what)
    clamps = dict(choices)["texture.fetch_outside"] == "clamp"

    def run(record: Record, here: Value) -> None:
        lanes = k.mask_of(here)
        offsets = texel_offsets(request)
        dimensions, last = request.bits(Call.DIMENSIONS), record.word("LEVELS") - 1
        lod = k.select(request.bits(Call.LOD) == r.LEVEL, request.take(r.V_LOD), k.splat(0))
        number = k.clamp(lod, 0, last)
        sizes = [k.max(k.splat(record.word(name)).lsr(number), 1) for name in ("WIDTH", "HEIGHT", "DEPTH")]
        inside = lod.below(last + 1)
        place = []
        for axis, vector in enumerate((r.V_X, r.V_Y, r.V_Z)):
            at = k.select(dimensions > axis, request.take(vector) + offsets[axis], k.splat(0))
            inside = inside & at.below(sizes[axis])
            place.append(k.clamp(at, 0, sizes[axis] - 1))
        layers = record.word("LAYERS")
        layer = k.select(request.bits(Call.ARRAY) != 0, request.take(r.V_LAYER) & 0xFFFF, k.splat(0))
        layer = k.min(layer, layers - 1)
        start, before = level_start(k, record, number, layer, sizes)
        across, down = (record.word("SAMPLES", n) for n in range(2))
        one = k.select(request.bits(Call.MULTISAMPLED) != 0, request.take(r.V_SAMPLE), k.splat(0))
        one = one & ((1 << (across + down)) - 1)
        x = (place[0] << across) + (one & ((1 << across) - 1))
        y = (place[1] << down) + one.lsr(across)
        row = sizes[0] << across
        index = (before << (across + down)) + (place[2] * (sizes[1] << down) + y) * row + x
        words = load_texel(request, record, start, index, lanes)
        k.probe("texture.lanes", lanes)
        for name, value in (("level", number), ("x", x), ("y", y), ("z", place[2]), ("layer", layer)):
            k.probe(f"texture.{name}", value)
        for n, w in enumerate(words):
            k.probe(f"texture.texel.{'rgba'[n]}", w)
        if not clamps:
            words = tuple(k.select(inside, w, 0) for w in words)  # type: ignore[assignment]
        return_words(request, words, lanes, record.word("KIND") == r.INTEGER)

    each_texture(request, mask, handle, r.SAMPLED, run)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, handle=I32)
def gather(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """One component of the four texels that a bilinear filter of level 0 takes: (0, 1), (1, 1), (1, 0), (0, 0)."""
    request = Request(k, launch, slot, warp, instruction, what)

    def run(record: Record, here: Value) -> None:
        lanes = k.mask_of(here)
        k.probe("texture.lanes", lanes)
        sampling = Sampling(request, record, lanes, dict(choices))
        cube = sampling.cube
        xyz = [k.bits_f32(request.take(n)) for n in (r.V_X, r.V_Y, r.V_Z)]
        face, s, t, major = c.face_of(k, *xyz)
        half = 0.5 / k.select(major > 0.0, major, 1.0)
        at = [k.select(cube, s * half + 0.5, xyz[0]), k.select(cube, t * half + 0.5, xyz[1])]
        layer = k.select(request.bits(Call.ARRAY) != 0, request.take(r.V_LAYER) & 0xFFFF, k.splat(0))
        layer = k.clamp(k.select(cube, layer * 6 + face, layer), 0, record.word("LAYERS") - 1)
        sizes = [k.splat(record.word(name)) for name in ("WIDTH", "HEIGHT", "DEPTH")]
        scale = sampling.scale()
        always = k.splat(0) == 0
        offsets, each = texel_offsets(request), request.bits(Call.OFFSETS) == r.EACH
        pairs = [request.take(r.V_OFFSETS), request.take(r.V_SAMPLE)]
        whole = []
        for axis in range(2):
            fixed = c.places(k, at[axis] * scale[axis], always, sampling.choices) + (offsets[axis] << 8)
            whole.append(c.confined(k, fixed, sizes[axis], record.word("WRAP", axis), always) >> 8)
        component = request.bits(Call.COMPONENT)
        out = [k.var(k.splat(0)) for _ in range(4)]
        for n in k.range(0, 4):
            # Texels in the order of results.
            right, lower = k.select((n == 1) | (n == 2), 1, 0), k.select(n < 2, 1, 0)
            word = k.select(n < 2, pairs[0], pairs[1]).lsr((n & 1) << 4)
            x = whole[0] + k.select(each, word.bits(0, 6, signed=True), k.splat(right))
            y = whole[1] + k.select(each, word.bits(8, 6, signed=True), k.splat(lower))
            zero = k.splat(0)
            found, _ = texel(request, record, x, y, zero, layer, zero, sizes, cube, lanes)
            found = compared(request, record, found)
            value = k.switch(component, [partial(_same, word) for word in found])
            for i in range(4):
                out[i].value = k.select(n == i, value, out[i].value)
        return_words(request, [v.value for v in out], lanes, record.word("KIND") == r.INTEGER)

    each_texture(request, mask, handle, r.SAMPLED, run)


DIMENSION, TEXTURE_TYPE, FILTER, LOD, WRAPPING, BORDER_COLOUR, LEVEL_OF_DETAIL = 1, 2, 16, 18, 20, 22, 63
"""The queries: numbers of TXQ, and one of ours for TMML."""


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, handle=I32)
def query(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Sizes of a level, and fields of header and sampler (TXQ); the level of detail in 1/256 (TMML)."""
    request = Request(k, launch, slot, warp, instruction, what)
    question = request.bits(Call.QUESTION)

    def run(record: Record, here: Value) -> None:
        lanes = k.mask_of(here)
        zero = k.splat(0)
        word = lambda name, n=0: k.splat(record.word(name, n))

        def dimension() -> tuple[Value, ...]:
            level = k.clamp(request.take(r.V_LOD), 0, 31)
            width, height, depth = (k.max(word(name).lsr(level), 1) for name in ("WIDTH", "HEIGHT", "DEPTH"))
            target = record.word("TARGET")
            cubes = (target == 3) | (target == 8)
            layers = k.select(cubes, k.udiv(record.word("LAYERS"), k.i32(6)), record.word("LAYERS"))
            return width, height, k.select(target == 2, depth, k.splat(layers)), word("LEVELS")

        def kind() -> tuple[Value, ...]:
            samples = k.i32(1) << (record.word("SAMPLES") + record.word("SAMPLES", 1))
            return word("TARGET"), zero, k.splat(samples), zero

        def detail() -> tuple[Value, ...]:
            k.probe("texture.lanes", lanes)
            sampling = Sampling(request, record, lanes, dict(choices))
            raw = c.level_of(k, *sampling.gradients(sampling.scale()))
            fixed = lambda v: k.to_i32(k.floor(v * 256.0 + 0.5), -32768.0, 32767.0)
            last = k.to_f32(record.word("LEVELS") - 1)
            return fixed(k.clamp(sampling.bounded(raw), k.f32(0.0), last)), fixed(raw), zero, zero

        nothing = lambda: (zero,) * 4
        answers = {
            DIMENSION: dimension, TEXTURE_TYPE: kind,
            FILTER: lambda: (word("MAG"), word("MIN"), word("MIP"), word("ANISOTROPY")),
            LOD: lambda: (word("RAW_LOD"), word("RAW_LOD", 1), word("RAW_LOD", 2), zero),
            WRAPPING: lambda: (word("WRAP"), word("WRAP", 1), word("WRAP", 2), zero),
            BORDER_COLOUR: lambda: tuple(word("BORDER", n) for n in range(4)),
        }  # fmt: skip
        number = k.select(question == LEVEL_OF_DETAIL, 23, k.min(question, 24))
        cases = [answers.get(n, nothing) for n in range(23)] + [detail, nothing]
        return_words(request, k.switch(number, cases), lanes, None)

    each_texture(request, mask, handle, r.HEADER, run)


__all__ = ["fetch", "gather", "query"]
