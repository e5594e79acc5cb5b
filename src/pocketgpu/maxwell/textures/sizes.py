"""Sizes that decoders and those who call them share."""

from __future__ import annotations

from typing import Final

MAX_LANES: Final = 64
"""After the last block of a row of texels there must be room for this many blocks, less one."""
TEXEL_BYTES: Final = {"unorm8": 4, "float": 16}
"""Bytes of a texel by its form."""
ASTC_BLOCKS: Final = (
    (4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10), (12, 10),
    (12, 12),
)  # fmt: skip
"""Width and height of ASTC's blocks."""
# Scratch of ASTC, in vectors of 32-bit words: values of colours, decoded weights, weights of a texel and its neighbour.
COLOUR_CELLS, WEIGHT_CELLS, GRID_CELLS = 32, 136, 80
SCRATCH_BYTES: Final = 4 * MAX_LANES * (COLOUR_CELLS + WEIGHT_CELLS + GRID_CELLS)
"""Arena bytes that a decoder may use while it runs."""
