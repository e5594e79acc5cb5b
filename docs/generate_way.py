"""Writes the pages "The way of a pixel" of both consoles, from a run of the samples that the package has.

    python docs/generate_way.py FOLDER

All numbers come from the debugger; the sentences are in pixel_way/.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pixel_way import n3ds_back, switch_back
from pixel_way.writing import Page

PAGES: dict[str, tuple[str, Callable[[Path, Path], Page]]] = {
    "3ds": ("sample.ctf.xz", n3ds_back.write),
    "switch": ("sample_switch.mxcap.zip", switch_back.write),
}
"""Pages by name: the sample of each, and what writes it."""


def generate(folder: Path) -> dict[str, Page]:
    """Write the pages and their pictures into `folder`, which is emptied of older ones; returns the pages by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("*.md", "*.png"):
        for old in folder.glob(pattern):
            old.unlink()
    pages = {}
    for name, (sample, write) in PAGES.items():
        with resources.as_file(resources.files("pocketgpu") / "data" / sample) as capture:
            pages[name] = write(capture, folder)
        (folder / f"{name}.md").write_text(pages[name].text, encoding="utf-8", newline="\n")
    return pages


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/generate_way.py FOLDER")
    print(f"{len(generate(Path(sys.argv[1])))} pages in {sys.argv[1]}")
