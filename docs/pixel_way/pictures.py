"""Pictures of a screen with a pixel marked, and of what covers it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

MARK = (255, 255, 255)
EDGE = (0, 0, 0)
COVERED = (70, 200, 255)
"""The colour of what a triangle covers."""


def marked(picture: Pixels, x: int, y: int, arm: int = 9) -> Pixels:
    """The picture with a cross hair around a pixel, white with a black edge. The pixel itself stays as it is."""
    out = picture.copy()
    height, width = out.shape[:2]
    for colour, edge in ((EDGE, 1), (MARK, 0)):
        for step in range(3 - edge, arm + 1 + edge):
            for across, down in ((step, 0), (-step, 0), (0, step), (0, -step)):
                for off in range(-edge, edge + 1):
                    i, j = (x + across, y + down + off) if across else (x + off, y + down)
                    if 0 <= i < width and 0 <= j < height:
                        out[j, i] = colour
    return out


def around(picture: Pixels, x: int, y: int, half: int = 7, times: int = 16) -> Pixels:
    """The pixels around one, enlarged, with a frame around that one."""
    height, width = picture.shape[:2]
    rows = np.clip(np.arange(y - half, y + half + 1), 0, height - 1)
    columns = np.clip(np.arange(x - half, x + half + 1), 0, width - 1)
    out = picture[rows][:, columns].repeat(times, 0).repeat(times, 1)
    first, last = half * times, (half + 1) * times
    for inset, colour in ((-2, EDGE), (-1, MARK)):
        low, high = first + inset, last - 1 - inset
        out[low, low : high + 1] = out[high, low : high + 1] = colour
        out[low : high + 1, low] = out[low : high + 1, high] = colour
    return out


def covered(picture: Pixels, masks: list[NDArray[np.bool_]]) -> Pixels:
    """The picture in dark grey, and the pixels of each mask in a shade of one colour."""
    grey = (picture.mean(axis=-1, keepdims=True) * 0.45).repeat(3, -1)
    for number, mask in enumerate(masks):
        share = 0.65 - 0.25 * number
        grey[mask] = grey[mask] * (1 - share) + np.array(COVERED) * share
    return grey.astype(np.uint8)
