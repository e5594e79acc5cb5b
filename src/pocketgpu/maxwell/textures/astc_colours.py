"""ASTC's colour endpoints: the ten modes with two colours of low dynamic range; the others give the error colour.

Source: OpenGL extension KHR_texture_compression_astc_hdr, sections C.2.11 and C.2.14.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.lanes import Lang, Value

# Modes with high dynamic range: luminance, base and scale, RGB direct, with either alpha.
HDR: Final = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 11 | 1 << 14 | 1 << 15
ERROR: Final = -0xFF01  # 0xFFFF00FF, opaque magenta


def ends(k: Lang, way: Value, v: list[Value]) -> tuple[Value, Value]:
    """Two colours as unorm8 words of eight values of 0 to 255; `way` is the colour endpoint mode."""
    offset = (way & 1) == 1  # every LDR mode with an odd number
    kind = way.lsr(2)  # luminance, luminance and alpha or base and scale, RGB, RGBA
    scaled = (way == 6) | (way == 10)
    v = list(v)
    # Base and offset: bits move from the odd values to the even ones. Luminance without alpha has a different rule.
    moved: list[Value] = []
    for i in range(0, 8, 2):
        base, by = v[i].lsr(1) | (v[i + 1] & 0x80), v[i + 1].bits(1, 6)
        moved += [base, (by ^ 0x20) - 0x20]
    of = lambda i: k.select(offset, moved[i], v[i])
    second = lambda i: k.select(offset, moved[i] + moved[i + 1], v[i + 1])

    # RGB and RGBA; the sum decides whether the endpoints are exchanged.
    a = [of(0), of(2), of(4)]
    b = [second(0), second(2), second(4)]
    total = lambda first: moved[first] + moved[first + 2] + moved[first + 4]
    direct = (v[1] + v[3] + v[5]) < (v[0] + v[2] + v[4])
    contract = (offset & (total(1) < 0)) | (~offset & direct)
    blue = lambda rgb: [(rgb[0] + rgb[2]) >> 1, (rgb[1] + rgb[2]) >> 1, rgb[2]]
    alpha = of(6), second(6)
    has_alpha = kind == 3
    wide_a = [k.select(contract, q, p) for p, q in zip(a, blue(b), strict=True)]
    wide_b = [k.select(contract, q, p) for p, q in zip(b, blue(a), strict=True)]
    alpha_a = k.select(has_alpha, k.select(contract, alpha[1], alpha[0]), 255)
    alpha_b = k.select(has_alpha, k.select(contract, alpha[0], alpha[1]), 255)

    # Base and scale: the first endpoint is the second one, scaled.
    scale_a = [(value * v[3]).lsr(8) for value in v[:3]]
    ten = way == 10
    scale_alpha = [k.select(ten, v[i], 255) for i in (4, 5)]

    # Luminance, and luminance with alpha.
    low = v[0].lsr(2) | (v[1] & 0xC0)
    high = k.min(low + (v[1] & 0x3F), 255)
    alone = kind == 0
    grey_a = k.select(alone, k.select(offset, low, v[0]), of(0))
    grey_b = k.select(alone, k.select(offset, high, v[1]), second(0))
    grey_alpha = [k.select(alone, 255, value) for value in (of(2), second(2))]

    grey = kind < 2
    pick = lambda s, g, w: k.select(scaled, s, k.select(grey, g, w))
    first = [pick(s, grey_a, w) for s, w in zip(scale_a, wide_a, strict=True)]
    last = [pick(s, grey_b, w) for s, w in zip(v[:3], wide_b, strict=True)]
    first.append(pick(scale_alpha[0], grey_alpha[0], alpha_a))
    last.append(pick(scale_alpha[1], grey_alpha[1], alpha_b))
    error = (k.splat(HDR).lsr(way) & 1) == 1
    return k.select(error, ERROR, _packed(k, first)), k.select(error, ERROR, _packed(k, last))


def _packed(k: Lang, colour: list[Value]) -> Value:
    red, green, blue, alpha = (k.clamp(part, 0, 255) for part in colour)
    return red | (green << 8) | (blue << 16) | (alpha << 24)
