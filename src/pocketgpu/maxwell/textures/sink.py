"""Output of block decoders: rows of RGBA texels, in one of two forms.

"unorm8": a 32-bit word, red in its lowest byte. "float": four float32. The rows must have room after the last block for
as many blocks as there are lanes: lanes without a block write there.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures.block_bits import interleave
from pocketgpu.maxwell.textures.sizes import TEXEL_BYTES

Row = tuple[Value | float, Value | float, Value | float, Value | float]
"""Red, green, blue and alpha of one texel of each block."""


@dataclass(frozen=True)
class TexelSink:
    """Output of the blocks in the lanes: `target` (i64) is the first texel of lane 0's block, `width` a block's in
    texels."""

    k: Lang
    target: Value
    pitch: Value
    width: int
    form: str

    def _row(self, y: Value | int, x: Value | int = 0) -> Value:
        k, size = self.k, TEXEL_BYTES[self.form]
        down = self.pitch * k.to_i64(y if isinstance(y, Value) else k.i32(y))
        return self.target + down + k.to_i64((x if isinstance(x, Value) else k.i32(x)) * size)

    def words(self, y: int, row: list[Value]) -> None:
        """A row of blocks that are four texels wide, as unorm8 words."""
        place = self._row(y)
        for i, vector in enumerate(interleave(self.k, row)):
            self.k.store(I32, place + 4 * self.k.lanes * i, vector)

    def floats(self, x: Value | int, y: Value | int, texel: Row) -> None:
        """One texel of each block as floats; `x` and `y` may be scalars."""
        k, place = self.k, self._row(y, x)
        vectors = interleave(k, [k.fit(part, F32, k.lanes) for part in texel])
        for lane in range(k.lanes):
            at = 4 * (lane % (k.lanes // 4))
            four = k.shuffle(vectors[4 * lane // k.lanes], [at, at + 1, at + 2, at + 3])
            k.store(F32, place + 16 * self.width * lane, four)
