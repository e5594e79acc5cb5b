"""The page that says how far to trust the pictures has the sums of the tables of agreement."""

from __future__ import annotations

import re

from support.house import ROOT

DOCS = ROOT / "docs"


def rows(page: str) -> list[list[str]]:
    """The cells of the rows of a page's table."""
    text = (DOCS / page).read_text(encoding="utf-8").partition("<!-- table")[2].partition("<!-- end of table")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def size(name: str) -> int:
    """Pixels of a picture, by the name of its recording."""
    found = re.search(r"_(\d+)x(\d+)", name)
    assert found, name
    return int(found[1]) * int(found[2])


def test_its_numbers_are_those_of_the_tables() -> None:
    page = (DOCS / "trust.md").read_text(encoding="utf-8")
    said = [(number(one), number(of)) for one, of in re.findall(r"(\d[\d,]*) of (\d[\d,]*) pixels", page)]
    text = (DOCS / "agreement.md").read_text(encoding="utf-8")
    n3ds = re.search(r"Together ([\d,]+) pixels, ([\d,]+) of them beyond 2/255", text)
    assert n3ds
    switch = rows("agreement-switch.md")
    beyond = sum(number(row[4]) for row in switch)
    pixels = sum(number(row[1]) * size(row[0]) for row in switch)
    assert said == [(number(n3ds[2]), number(n3ds[1])), (beyond, pixels)]
    assert number(n3ds[2]) == sum(number(row[4]) for row in rows("agreement.md"))
    limits = {number(row[2]) for row in switch}
    assert f"which is {min(limits)} to {max(limits)}" in " ".join(page.split())
