"""Pictures of the guides: those that are computed are what is computed today, and every picture has words for it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
FOLDER = ROOT / "docs" / "images" / "guides"
TOOL = runpy.run_path(str(ROOT / "tools" / "make_guide_pictures.py"))
RENDERED, SHOTS = TOOL["RENDERED"], TOOL["SHOTS"]
MOST_BYTES = 2_500_000
"""Of all pictures of guides together."""
LEAST_WORDS = 5
DRAWN = {"black-screen.svg"}
"""By tools/draw_question_tree.py."""
PICTURE = re.compile(r"!\[([^\]]*)\]\(\.\./images/([^)]+)\)")


@pytest.mark.parametrize("name", RENDERED)
def test_a_picture_is_what_is_computed_today(name: str) -> None:
    """If this is how it should look: python tools/make_guide_pictures.py NAME."""
    with Image.open(FOLDER / f"{name}.webp") as kept:
        pixels = np.asarray(kept.convert("RGB"))
    made = np.asarray(RENDERED[name]().convert("RGB"))
    assert pixels.shape == made.shape
    assert np.count_nonzero((pixels != made).any(axis=-1)) == 0
    assert int(made.max()) > int(made.min()), "one flat colour"


def test_every_picture_is_made_by_a_tool_and_shown_by_a_guide() -> None:
    made = {f"{name}.webp" for name in (*RENDERED, *SHOTS)} | DRAWN
    shown = [name for page in GUIDES for _, name in PICTURE.findall(page.read_text(encoding="utf-8"))]
    of_guides = {name.removeprefix("guides/") for name in shown if name.startswith("guides/")}
    assert {path.name for path in FOLDER.iterdir()} == made == of_guides
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_picture_has_words_for_who_does_not_see_it(page: Path) -> None:
    for words, name in PICTURE.findall(page.read_text(encoding="utf-8")):
        assert len(words.split()) >= LEAST_WORDS, name
        assert words[0].isupper() and not words.endswith("."), name
