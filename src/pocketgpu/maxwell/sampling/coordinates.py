"""From coordinates to texels: wrapping, faces of cubes, fixed-point positions and the level of detail.

Positions are in 1/256 of a texel, as the filters' weights have 8 bits (CUDA's programming guide documents it for this
vendor's texture units). Lanes are quads: lane = 4 * quad + 2 * y + x, which differences between neighbours use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pocketgpu.lanes import BOOL, Lang, Value
from pocketgpu.lanes.elementary import quick_log2
from pocketgpu.maxwell.sampling import records as r

ONE = 256
_FARTHEST = float(1 << 30)
_FAR_TEXEL = float(1 << 22)
LOWEST = -1000.0
"""The level of detail where coordinates are the same at all pixels."""


def texel_at(k: Lang, scaled: Value) -> Value:
    """Numbers of the texels at coordinates in texels."""
    return k.to_i32(k.floor(scaled), -_FAR_TEXEL, _FAR_TEXEL)


def places(k: Lang, scaled: Value, linear: Value | bool, choices: Mapping[str, str]) -> Value:
    """Positions in 1/256 texel of coordinates in texels; lanes that are not linear have no fraction."""
    half = ONE / 2 - (0.5 if choices["texture.fraction"] == "round" else 0.0)
    # The product is exact, so it does not matter whether it is rounded.
    moved = k.fma(scaled, float(ONE), -half) if k.fused else scaled * float(ONE) - half
    smooth = k.to_i32(k.floor(moved), -_FARTHEST, _FARTHEST)
    return smooth if linear is True else k.select(linear, smooth, texel_at(k, scaled) << 8)


def modulo(k: Lang, x: Value, size: Value, powers: Value) -> Value:
    """x modulo size, never negative. |x| is at most 2^22; powers: all sizes are powers of two."""

    def general() -> Value:
        q = k.to_i32(k.floor(k.to_f32(x) / k.to_f32(size)), -_FAR_TEXEL, _FAR_TEXEL)
        rest = x - q * size  # the quotient may be one too large or too small
        rest = k.select(rest < 0, rest + size, rest)
        return k.select(rest >= size, rest - size, rest)

    result: Value = k.branch(powers, lambda: x & (size - 1), general)
    return result


def confined(k: Lang, place: Value, size: Value, mode: Value, linear: Value) -> Value:
    """Positions for the modes that clamp a coordinate to the texture before filtering (the CLAMP_OGLs).

    Linear lanes include half of the border; the others have the last texel there.
    """
    once = (mode == r.ONCE_OGL) | (mode == r.CLAMP_OGL)

    def clamp() -> Value:
        # A coordinate of 0 is half a texel before the first one.
        mirrored = k.select(mode == r.ONCE_OGL, k.max(place, -ONE - place), place)
        low, high = k.select(linear, k.splat(-ONE // 2), 0), k.select(linear, ONE // 2, ONE)
        return k.min(k.max(mirrored, low), (size << 8) - high)

    result: Value = k.branch(once, clamp, lambda: place)
    return result


def wrap(k: Lang, x: Value, size: Value, mode: Value, powers: Value) -> tuple[Value, Value]:
    """(texel inside of the texture, whether it is the border instead) for a texel number and an address mode."""
    inside = k.fit(False, BOOL, x.lanes)
    edge = lambda x: k.clamp(x, 0, size - 1)
    once = lambda: k.select(x < 0, -1 - x, x)

    def mirror() -> tuple[Value, Value]:
        m = modulo(k, x, size + size, powers)
        return k.min(m, size + size - 1 - m), inside

    def bordered(x: Value) -> tuple[Value, Value]:
        return edge(x), ~x.below(size)

    cases = [
        lambda: (modulo(k, x, size, powers), inside), mirror, lambda: (edge(x), inside), lambda: bordered(x),
        lambda: bordered(x), lambda: (edge(once()), inside), lambda: bordered(once()), lambda: bordered(once()),
    ]  # fmt: skip
    found, outside = k.switch(mode, cases)
    return found, outside


# -- faces of a cube --------------------------------------------------------------------------------------------------
Faced = tuple[Value, Value, Value, Value]
"""(face, coordinates on it, the major one) of a direction."""


def face_of(k: Lang, x: Value, y: Value, z: Value) -> Faced:
    """The face that a direction (floats or integers) points to, its coordinates there, and its length along the major
    axis."""
    ax, ay, az = k.abs(x), k.abs(y), k.abs(z)
    on_x, on_y = (ax >= ay) & (ax >= az), ay >= az
    zero = 0.0 if x.type.kind == "float" else 0
    pick = lambda a, b, c: k.select(on_x, a, k.select(on_y, b, c))
    major = pick(x, y, z)
    minus = major < zero
    face = pick(k.splat(0), k.splat(2), k.splat(4)) + k.select(minus, k.splat(1), 0)
    s = pick(k.select(minus, z, -z), x, k.select(minus, -x, x))
    t = pick(-y, k.select(minus, -z, z), -y)
    return face, s, t, k.abs(major)


def direction_of(k: Lang, face: Value, s: Value, t: Value, one: Value) -> tuple[Value, Value, Value]:
    """The direction of a point on a face at distance `one`; the reverse of `face_of`."""
    minus = (face & 1) != 0
    on_x, on_y = face < 2, face < 4
    far = k.select(minus, -one, one)
    pick = lambda a, b, c: k.select(on_x, a, k.select(on_y, b, c))
    x = pick(far, s, k.select(minus, -s, s))
    y = pick(-t, far, -t)
    z = pick(k.select(minus, s, -s), k.select(minus, -t, t), far)
    return x, y, z


def across_edges(k: Lang, face: Value, x: Value, y: Value, n: Value) -> tuple[Value, Value, Value, Value]:
    """(face, x, y) of texels beside a face of n x n texels, and whether there is none: beyond a corner."""
    nowhere = ~x.below(n) & ~y.below(n)
    doubled = lambda v: 2 * v + 1 - n
    direction = direction_of(k, face, doubled(x), doubled(y), n)
    to, s, t, _ = face_of(k, *direction)
    inside = lambda v: k.clamp((v + n) >> 1, 0, n - 1)
    here = x.below(n) & y.below(n)
    return k.select(here, face, to), k.select(here, x, inside(s)), k.select(here, y, inside(t)), nowhere


# -- the level of detail ----------------------------------------------------------------------------------------------
def slopes(k: Lang, v: Value) -> tuple[Value, Value]:
    """Differences of a value along x and along y inside of each quad, the same for its four lanes."""
    lanes = range(v.lanes)
    pick = lambda n: k.shuffle(v, [(lane & ~3) + n for lane in lanes])
    first = pick(0)
    return pick(1) - first, pick(2) - first


def level_of(k: Lang, along_x: Sequence[Value], along_y: Sequence[Value]) -> Value:
    """log2 of the distance in texels of the next pixel, along the longer side of the footprint."""
    longer = k.max(_squares(along_x), _squares(along_y))
    return k.select(longer > 0.0, 0.5 * quick_log2(k, longer), LOWEST)


def _squares(vs: Sequence[Value]) -> Value:
    total = vs[0] * vs[0]
    for v in vs[1:]:
        total = total + v * v
    return total


def footprint(k: Lang, along_x: Sequence[Value], along_y: Sequence[Value], most: Value) -> tuple[Value, Value, Value]:
    """(level of detail, samples, whether the longer side is that along x) of an anisotropic filter."""
    x2, y2 = _squares(along_x), _squares(along_y)
    longer, shorter = k.max(x2, y2), k.max(k.min(x2, y2), 1e-30)
    ratio = k.sqrt(longer / shorter)
    count = k.clamp(k.to_i32(-k.floor(-ratio), 1.0, 16.0), k.i32(1), most)
    n = k.to_f32(count)
    level = k.select(longer > 0.0, 0.5 * quick_log2(k, longer / (n * n)), LOWEST)
    return level, count, x2 >= y2
