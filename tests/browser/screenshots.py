"""Screenshots of the page, compared with kept ones so loosely that another version of the browser's fonts is no matter.

Both are reduced to means over blocks of BLOCK x BLOCK pixels. Letters that move by a pixel change a mean little; a
panel that is missing, a colour of the wrong theme or rows at another height change it much. What is kept is the picture
at half its size, in few colours, so that it can be looked at and is small.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).parent / "goldens"
FAILURES = ROOT / "build" / "failures"
REDUCED, COLOURS = 2, 32
BLOCK = 20
FAR = 20
"""Two means of a channel, of 256, differ if they are further apart."""
MOST = 0.02
"""Which part of the blocks may differ: text that wraps in another place moves a few rows."""


def reduced(png: bytes) -> Image.Image:
    """A screenshot as it is kept."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    small = image.resize((image.width // REDUCED, image.height // REDUCED), Image.Resampling.BOX)
    return small.quantize(COLOURS, dither=Image.Dither.NONE)


def means(image: Image.Image) -> NDArray[np.float64]:
    """Means of the channels over blocks of a kept picture."""
    side = BLOCK // REDUCED
    pixels = np.asarray(image.convert("RGB"), np.float64)
    rows, columns = pixels.shape[0] // side, pixels.shape[1] // side
    cut = pixels[: rows * side, : columns * side]
    return cut.reshape(rows, side, columns, side, 3).mean(axis=(1, 3))


def differing(kept: Image.Image, shown: Image.Image) -> NDArray[np.bool_]:
    """Blocks that differ. All do if the sizes differ."""
    one, other = means(kept), means(shown)
    if kept.size != shown.size:
        return np.ones(other.shape[:2], bool)
    found: NDArray[np.bool_] = (np.abs(one - other) > FAR).any(axis=2)
    return found


def marked(kept: Image.Image, shown: Image.Image, blocks: NDArray[np.bool_]) -> Image.Image:
    """What was kept and what is shown, beside each other, and differing blocks in red."""
    both = Image.new("RGB", (kept.width + shown.width, max(kept.height, shown.height)))
    both.paste(kept.convert("RGB"), (0, 0))
    pixels = np.array(shown.convert("RGB"))
    side = BLOCK // REDUCED
    mask = np.kron(blocks, np.ones((side, side), bool))
    pixels[: mask.shape[0], : mask.shape[1]][mask] //= 2
    pixels[: mask.shape[0], : mask.shape[1], 0][mask] += 127
    both.paste(Image.fromarray(pixels), (kept.width, 0))
    return both


def check(name: str, png: bytes, update: bool) -> str:
    """How a screenshot differs from the kept one; "" if it does not. update: keep it instead."""
    path, shown = KEPT / f"{name}.png", reduced(png)
    if update:
        KEPT.mkdir(exist_ok=True)
        shown.save(path, optimize=True)
        return ""
    kept = Image.open(path)
    blocks = differing(kept, shown)
    if blocks.mean() <= MOST:
        return ""
    FAILURES.mkdir(parents=True, exist_ok=True)
    (FAILURES / f"page-{name}.png").write_bytes(png)
    marked(kept, shown, blocks).save(FAILURES / f"page-{name}-difference.png")
    return (
        f"{name}: {blocks.mean():.1%} of the page differ; see build/failures/page-{name}-difference.png. "
        "If it should look so: pytest tests/browser/test_screenshots.py --update-goldens"
    )
