"""Headers of shader programs: what is packed is read back."""

from __future__ import annotations

import pytest

from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.maxwell.graphics.programs.headers import HEADER_SIZE, Header, packed
from pocketgpu.maxwell.sass.stages.stage import PIXEL, VIEWPORT_MASK

WORDS = range(0, 0x400, 4)


@pytest.mark.parametrize("stage", [1, 4, 5])
def test_each_word_of_the_maps_is_its_own(stage: int) -> None:
    """One input, or one output, at a time; words that no map has leave the header as it is."""
    empty = packed(stage, {}, (), {})
    assert len(empty) == HEADER_SIZE and not Header.of(empty).inputs and not Header.of(empty).outputs
    outputs = inputs = 0
    for word in WORDS:
        one = Header.of(packed(stage, {word: 1}, (), {}))
        assert dict(one.inputs) in ({word: 1}, {}) and not one.outputs and one.stage == stage
        other = Header.of(packed(stage, {}, (word,), {}))
        assert other.outputs in ((word,), ()) and not other.inputs
        assert (other.number == Header.of(empty).number) == (not other.outputs)
        inputs, outputs = inputs + len(one.inputs), outputs + len(other.outputs)
    assert inputs > 100 and (outputs == 0 if stage == PIXEL else outputs > 100)


def test_the_mask_of_viewports_is_an_output_like_others() -> None:
    both = Header.of(packed(4, {}, (0x70, VIEWPORT_MASK), {}))
    assert set(both.outputs) == {0x70, VIEWPORT_MASK}
    assert Header.of(packed(4, {}, (VIEWPORT_MASK,), {})).outputs == (VIEWPORT_MASK,)
    without = Header.of(packed(4, {}, (0x70,), {}))
    assert (both.number ^ without.number).bit_count() == 1
    assert SPH["VTG"] is both.structure
