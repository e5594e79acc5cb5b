"""Each method of the 3D class that the page has: name, place, fields, and that a pushbuffer's write is kept.

What such a method does is in the other test_b197_* files; what it does to pixels, in test_b197_pixels_*. The note
pixels=later stands where a register asks for what an event reports and nothing does.
"""

from __future__ import annotations

import pytest

from .switch_state import Line, check_line, parameters


@pytest.mark.parametrize("line", parameters("b197"))
def test_a_method_is_known_kept_and_decoded(line: Line) -> None:
    check_line(line)
