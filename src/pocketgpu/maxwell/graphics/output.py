"""The end of the pixel pipeline for one block of 8 x 4 pixels: the tests, and the writes into colour targets.

Both kernels are called by handle, OUTPUT.TEST and OUTPUT.WRITE, with the arena offsets of the draw's OUTPUT record
(output_records.py) and of the thread's FRAGMENTS record (records.py):

    k.invoke(k.load(I64, output + OUTPUT.TEST), output, fragments)

The order is the caller's, as `OutputState.early` says:

* late: pixel program, test, write.
* early: test, pixel program, write. What the program throws away is left out of the write then.

Blocks begin at multiples of 8 x 4 pixels. Of FRAGMENTS, `test` reads X, Y, LAYER, VIEWPORT, FRONT, COVER and DEPTH, and
leaves COVERED, COVER and PASSED as the tests have them; a block whose COVERED became 0 is done. `write` changes targets
only. KILLED and OUTPUTS are read behind the program. A program's own depth and sample mask are taken from its
registers here: SAMPLE_MASK need not be filled.
"""

from __future__ import annotations

from ...lanes import I64, Lang, Value, kernel
from ..sass.work import LANES
from .output_state import TestKey, WriteKey


@kernel(LANES, output=I64, fragments=I64)
def test(k: Lang, output: Value, fragments: Value, *, key: TestKey | None) -> None:
    """Which samples of a block are left: sample masks, depth bounds, stencil and depth, which are updated.

    Where the tests come behind the program also what it killed, its sample mask, the alpha test, alpha to coverage.

    :param key: what is known of the draw, None for code that serves any.
    """


@kernel(LANES, output=I64, fragments=I64)
def write(k: Lang, output: Value, fragments: Value, *, key: WriteKey | None) -> None:
    """Blend the colours of a block into their targets, where FRAGMENTS.COVER has samples left.

    :param key: what is known of the draw, None for code that serves any.
    """
