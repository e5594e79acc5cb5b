"""Each method of the copy engine that the page has: name, place, fields, and that a pushbuffer's write is kept."""

from __future__ import annotations

import pytest

from .switch_state import Line, check_line, parameters


@pytest.mark.parametrize("line", parameters("b0b5"))
def test_a_method_is_known_kept_and_decoded(line: Line) -> None:
    check_line(line)
