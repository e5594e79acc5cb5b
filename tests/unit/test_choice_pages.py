"""Pages of choices in the site: every choice has one, with pictures where it has a scene; the table of recordings."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.doubtful_scenes import stencil_through_depth_write

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.choices.evidence import of_choice
from pocketgpu.probe import Made, Scene, Watch

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def of_choices() -> Iterator[dict[str, Any]]:
    """What `docs/generate_choices.py` defines; it imports its neighbour."""
    sys.path.insert(0, str(DOCS))
    try:
        yield runpy.run_path(str(DOCS / "generate_choices.py"))
    finally:
        sys.path.remove(str(DOCS))


def test_the_table_of_recordings_has_choices_and_values_that_exist(of_choices: dict[str, Any]) -> None:
    rows = [row for rows in of_choices["recorded"]().values() for row in rows]
    assert len({row["recording"] for row in rows}) == 59
    places = {(row["choice"], row["value"], row["recording"]) for row in rows}
    assert len(places) == len(rows), "no row is there twice"
    for row in rows:
        # The default may have been another one when the recordings were replayed; then the row is out of date.
        assert row["value"] in CHOICES[row["choice"]].alternatives, row
        assert (row["pixels"] == "0") == (row["first"] == "") == (row["frames"] == "0")
        assert not row["first"] or re.fullmatch(r"f\d+/[\w-]+/px\d+,\d+", row["first"])


def test_every_choice_has_a_page(of_choices: dict[str, Any], tmp_path: Path) -> None:
    others = [tmp_path / "choices" / "kept" / "a.md", tmp_path / "choices" / "notes.txt"]
    old = tmp_path / "choices" / "no-longer-there.md"
    for path in (*others, old):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    pages = of_choices["generate"](tmp_path, pictures=False)
    assert sorted([*pages, *others]) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    index = (tmp_path / "choices.md").read_text(encoding="utf-8")
    registers = {
        name for page in runpy.run_path(str(DOCS / "generate_registers.py"))["generate"](tmp_path / "registers")
        for name in re.findall(r"^\(([\w-]+)\)=$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }  # fmt: skip
    for name, choice in CHOICES.items():
        path = tmp_path / "choices" / f"{of_choices['slug'](name)}.md"
        text = path.read_text(encoding="utf-8")
        assert f"[`{name}`](choices/{path.name}) | `{choice.default}` |" in index
        assert f"# {name}\n" in text and all(f"| `{value}`" in text for value in choice.values)
        assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= registers, "links lead to registers that have a place"


def test_a_page_shows_pictures_of_the_values(of_choices: dict[str, Any], tmp_path: Path) -> None:
    """A choice with a scene: a picture for each value, and one of the pixels that differ."""
    name = "test.stencil_write"
    data = stencil_through_depth_write(1)
    of_choices["draw"].__globals__["SCENES"] = {name: Scene(name, "A *triangle*.", lambda: Made(data, Watch()))}
    lines = of_choices["draw"](CHOICES[name], tmp_path)
    assert lines[0] == "A \\*triangle\\*."
    (other,) = CHOICES[name].alternatives
    slug = of_choices["slug"](name)
    names = [f"top-{CHOICES[name].default}", f"top-{other}", f"top-{other}-differs"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{slug}-{one}.png" for one in names)
    text = "\n".join(lines)
    usual, parted, mask = (np.asarray(Image.open(tmp_path / f"{slug}-{one}.png")) for one in names)
    count = int((usual != parted).any(axis=-1).sum())
    assert count and f"`{other}`: {count:,} of 96,000 pixels differ" in text and text.count(":alt: ") == 3
    assert int((mask == of_choices["_DIFFERS"]).all(axis=-1).sum()) == count
    assert of_choices["draw"](CHOICES["gsp.read_size"], tmp_path) == [], "a choice without a scene has no pictures"


def test_a_page_says_which_rows_count_once(of_choices: dict[str, Any]) -> None:
    """Two rows of Azahar's software renderer have the weight of one."""
    counted_once = of_choices["counted_once"]
    (line,) = counted_once(of_choice("fog.arithmetic"))
    assert line.endswith("count once: for `truncate` the 2 rows of Azahar SW.")
    (line,) = counted_once(of_choice("combiner.arithmetic"))
    assert line.endswith(
        ": for `integer` the 3 rows of Azahar SW, Mikage; for `float` the 2 rows of Azahar GL, Panda3DS."
    ), "3Beans has no ancestors in common with these"
    assert list(counted_once([])) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.example/x_y", "<https://a.example/x_y>"),
        ("see https://a.example and <b>", "see <https://a.example> and \\<b\\>"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ('https://x.y/"><script>alert(1)</script>', '<https://x.y/>"\\>\\<script\\>alert(1)\\</script\\>'),
        ("https://x.y/a|b`c` (https://x.y/z).", "<https://x.y/a>\\|b\\`c\\` (<https://x.y/z>)."),
        ("https://x.y/a>b https://x.y/\u2028<i>", "<https://x.y/a>\\>b <https://x.y/>\u2028\\<i\\>"),
        ("https://", "https://"),
    ],
)
def test_only_addresses_become_links(of_choices: dict[str, Any], text: str, shown: str) -> None:
    assert of_choices["linked"](text) == shown
