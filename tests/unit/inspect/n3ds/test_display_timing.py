"""The drawing of a scan: everything is where its number says."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from pocketgpu.inspect.n3ds.display_timing import AREAS, svg
from pocketgpu.pica.pdc import DisplayMode, display_mode

LEFT, TOP = 60, 34
"""Where the first screen begins."""


def parts(modes: dict[str, DisplayMode], kind: str, scale: float = 1.0) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg(modes, scale))
    return list(root.iter(f"{{http://www.w3.org/2000/svg}}{kind}"))


def numbers(element: ElementTree.Element, *names: str) -> tuple[float, ...]:
    return tuple(float(element.get(name, "nan")) for name in names)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_labels_lines_and_texts_are_in_their_places(scale: float) -> None:
    """The second screen is right of the first, with a margin on each side of both."""
    modes = {"top": display_mode("top", {"HIRQ": 0x01000080}), "bottom": display_mode("bottom")}
    texts = {(text.text, *numbers(text, "x", "y")) for text in parts(modes, "text", scale)}
    second = LEFT + 451 * scale + 2 * LEFT
    bottom = TOP + 414 * scale
    one = lambda value: round(value + 1e-9, 1)  # noqa: E731
    expected = {
        ("top: 451 x 414, 59.83 Hz", LEFT, TOP - 16), ("bottom: 451 x 414, 59.83 Hz", second, TOP - 16),
        ("V irq 402", LEFT + 451 * scale + 4, TOP + 402 * scale + 4), ("H irq 128", LEFT + 128 * scale, bottom + 12),
        ("V irq 404", second + 451 * scale + 4, TOP + 404 * scale + 4), ("449", LEFT + 449 * scale, TOP - 3),
        ("449", second + 449 * scale, TOP - 3), ("0", LEFT, TOP - 3), ("402", LEFT - 46, TOP + 402 * scale + 4),
        ("402", second - 46, TOP + 402 * scale + 4),
    }  # fmt: skip
    found = {(text, one(x), one(y)) for text, x, y in texts}
    assert {(text, one(x), one(y)) for text, x, y in expected} <= found, found
    lines = {numbers(line, "x1", "y1", "x2", "y2") for line in parts(modes, "line", scale)}
    v_irqs = [(LEFT, TOP + 402 * scale, LEFT + 451 * scale), (second, TOP + 404 * scale, second + 451 * scale)]
    assert lines == {
        *((x1, y, x2, y) for x1, y, x2 in v_irqs),
        (LEFT + 128 * scale, TOP, LEFT + 128 * scale, bottom),
    }


@pytest.mark.parametrize("screen", ["top", "bottom"])
def test_rectangles_have_the_colours_of_their_areas(screen: str) -> None:
    """Every clock of every line is drawn once, with the colour of the phases that it belongs to."""
    mode = display_mode(screen, {"HBL": 215, "HPICTURE": 430 << 16 | 220, "HSTART": 220, "HBR": 430, "HFP": 440})
    colors = [color for _, _, color in AREAS.values()]
    picture = np.full((414, 451), -1)
    for rect in parts({screen: mode}, "rect"):
        x, y, width, height = (int(value) for value in numbers(rect, "x", "y", "width", "height"))
        if y < TOP + 414:
            place = picture[y - TOP : y - TOP + height, x - LEFT : x - LEFT + width]
            assert place.shape == (height, width) and (place == -1).all()
            place[:] = colors.index(str(rect.get("fill")))
    shown = picture == list(AREAS).index("picture")
    low, high = mode.v_picture
    assert (picture >= 0).all() and shown.sum() == (high - low) * 210 and shown[low:high, 220:430].all()
