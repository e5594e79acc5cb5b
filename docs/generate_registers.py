"""Writes the register reference as Markdown pages, from the fact tables that the program itself runs on.

    python docs/generate_registers.py FOLDER

Registers that differ only in a number (the entries of a table, the lights) share one section. All text comes
from the tables, so correct a mistake in src/pocketgpu/facts. The pages themselves are made in `reference_pages/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(path) for path in (HERE, HERE / "extensions") if str(path) not in sys.path]

from reference_pages import catalogue, gsp, instructions, registers, structures  # noqa: E402  (found by the path above)


def generate(folder: Path) -> list[Path]:
    """Write all pages into `folder`, which is emptied of older ones; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    pages = {page.name: registers.page(page) for page in catalogue.pages()}
    pages |= {page.name: structures.page(page) for page in structures.PAGES}
    pages[gsp.PAGE] = gsp.page()
    pages[instructions.PICA_PAGE] = instructions.pica_page()
    pages |= {page.name: instructions.sass_page(page) for page in instructions.sass_pages()}
    pages[instructions.VALUES_PAGE] = instructions.sass_values()
    written = []
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/generate_registers.py FOLDER")
    print(f"{len(generate(Path(sys.argv[1])))} pages in {sys.argv[1]}")
