"""The measured figures as data: the table can be read, says where each figure is from, and the page has all of them."""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.house import ROOT
from support.words import search

README = ROOT / "benchmarks/README.md"


@pytest.fixture(scope="module")
def plots() -> Iterator[ModuleType]:
    """The module that writes the page."""
    sys.path.insert(0, str(ROOT / "docs"))
    import generate_figures

    yield generate_figures
    sys.path.remove(str(ROOT / "docs"))


def cited(source: str) -> tuple[str, str]:
    """The row of the README that a source names, and the text from the first row of the source to that row."""
    lines = README.read_text(encoding="utf-8").splitlines()
    at, first = 0, 0
    for number, words in enumerate(source.split(" > ")):
        at = next((n for n in range(at + bool(number), len(lines)) if words in lines[n]), -1)
        assert at >= 0, f"benchmarks/README.md has no row with {words!r} ({source})"
        first = first if number else at
    return lines[at], "\n".join(lines[first : at + 1])


def test_every_figure_is_in_the_readme_as_it_is_here(plots: ModuleType) -> None:
    figures = plots.read()
    assert len(figures) > 100
    for one in figures:
        row, before = cited(one.source)
        assert re.search(rf"(?<![\d.]){re.escape(one.value)}(?![\d.]*\d)", row), one
        date = "the same day" if one.date not in before and one.load == "not noted" else one.date
        assert date in before, one
        words = one.machine.split(" with ")[0]
        assert words in before, one


def test_every_figure_says_where_and_when_it_was_measured(plots: ModuleType) -> None:
    for one in plots.read():
        assert datetime.date(2026, 1, 1) < datetime.date.fromisoformat(one.date)
        assert re.match(r"(AMD|Intel) \w+", one.machine) and one.conditions and one.unit and one.statistic
        assert re.fullmatch(r"\d+(\.\d+)?( to \d+)?|quiet|not noted", one.load), one
        assert float(one.value) > 0 and (not one.promised or float(one.promised) > 0)
        assert one.date in one.where and one.machine in one.where


def test_no_figure_is_there_twice(plots: ModuleType) -> None:
    keys = [(one.chart, one.series, one.label, one.statistic) for one in plots.read()]
    assert len(keys) == len(set(keys))


def test_promises_are_those_of_the_readme(plots: ModuleType) -> None:
    """Their numbers are in the row of the benchmark, or in the text about it."""
    rows = {
        "captures": "captures", "llvmpipe": "llvmpipe", "starts": "first_picture", "pixels": "pixels",
        "kernels": "sass", "second-answers": "answers", "viewer-opening": "viewer", "viewer-clicks": "viewer",
    }  # fmt: skip
    lines = README.read_text(encoding="utf-8").splitlines()
    for one in plots.read():
        if not one.promised:
            continue
        row = next(line for line in lines if line.startswith(f"| `{rows[one.chart]}` |"))
        promise = row.rsplit("|", 2)[1]
        numbers = re.findall(r"\d+(?:\.\d+)?", promise)
        said = {*numbers, *(f"{1000 * float(number):g}" for number in numbers)}  # seconds are milliseconds here
        # "its time in the geometric mean" is once its time
        assert one.promised in said | ({"1"} if one.chart == "llvmpipe" else set()), one


def test_the_page_has_every_figure_and_a_plot_of_it(plots: ModuleType, tmp_path: Path) -> None:
    plots.generate(tmp_path / "figures.md")
    text = (tmp_path / "figures.md").read_text(encoding="utf-8")
    figures = plots.read()
    assert {one.chart for one in figures} == {chart.name for chart in plots.CHARTS}
    for chart in plots.CHARTS:
        part = text[text.index(f"## {chart.title}\n") :].partition("\n## ")[0]
        own = [one for one in figures if one.chart == chart.name]
        svg = re.search(r"<svg.*</svg>", part)[0]
        bars = plots.drawn(own)
        assert svg.count('class="small"') == sum(map(len, bars.values()))
        lines = sum(len({one.promised for one in some if one.promised}) for some in bars.values())
        assert svg.count('class="promise"') == lines
        assert re.search(r'role="img" aria-label="[^"]{20,}"', svg)
        table = part[part.index("\n| ") :]
        for one in own:
            row = re.search(rf"^\| {re.escape(one.label)} \|.*$", table, re.MULTILINE)[0]
            assert re.search(rf"\| {re.escape(one.value)}( \(\d\))? \|", row), one
            assert one.where in table
            assert (f": {one.value}, promised {one.promised}" in table) >= plots.missed(chart, one)
        assert table.count(", promised ") == sum(plots.missed(chart, one) for one in own)
    assert not [*search("docs/figures.md", text)]


def test_bars_are_as_long_as_their_numbers(plots: ModuleType) -> None:
    def figure(series: str, label: str, value: str, promised: str = "") -> object:
        return plots.Figure("c", series, label, value, "s", promised, "best", "a", "AMD X", "2026-02-01", "1", "x")

    svg = plots.plot(plots.CHARTS[0], [figure("a", "x", "2"), figure("b", "x", "4"), figure("a", "y", "1", "8")])
    wide = [float(one) for one in re.findall(r'width="([\d.]+)%" height="14"', svg)]
    (limit,) = (float(one) for one in re.findall(r'x1="([\d.]+)%"', svg))
    assert wide == pytest.approx([limit / 4, limit / 2, limit / 8], abs=0.01) and limit == plots.ROOM
    assert [one.value for one in plots.drawn([figure("a", "x", "2"), figure("a", "x", "3")])["x"]] == ["3"]


def test_a_promise_is_about_its_figures_and_may_be_missed(plots: ModuleType) -> None:
    def figure(statistic: str, value: str, promised: str) -> object:
        return plots.Figure("c", statistic, "x", value, "s", promised, statistic, "a", "AMD X", "2026-02-01", "1", "x")

    slower = next(chart for chart in plots.CHARTS if chart.longer == "slower")
    faster = next(chart for chart in plots.CHARTS if chart.longer == "faster")
    median, most, free = figure("median", "3", "2"), figure("most", "5", "6"), figure("first", "9", "")
    assert [plots.missed(slower, one) for one in (median, most, free)] == [True, False, False]
    assert [plots.missed(faster, one) for one in (median, most, free)] == [False, True, False]
    text = "\n".join(plots.section(slower, [median, most, free]))
    assert "| x | 3 | 5 | 9 | 2 (median), 6 (most) |" in text and "- x (median): 3, promised 2" in text
    spans = [(float(top), float(end)) for top, end in re.findall(r'<line [^>]*y1="([\d.]+)" .*?y2="([\d.]+)"', text)]
    # Each crosses its own bar only.
    assert spans[0][1] < spans[1][1] and spans[1][0] - spans[0][0] == plots.BAR + plots.BETWEEN
    assert "keep all promises" in "\n".join(plots.section(slower, [most]))


@pytest.mark.parametrize("change", ["drop", "head"])
def test_a_damaged_table_is_refused(plots: ModuleType, tmp_path: Path, change: str) -> None:
    lines = plots.TABLE.read_text(encoding="utf-8").splitlines()
    if change == "drop":
        lines[-1] = lines[-1].rpartition("\t")[0]
    else:
        lines[2] = lines[2].replace("label", "name")
    (tmp_path / "figures.tsv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=r"figures\.tsv"):
        plots.read(tmp_path / "figures.tsv")
