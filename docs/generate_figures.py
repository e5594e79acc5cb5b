"""Writes the page of measured figures: a plot of each group in benchmarks/figures.tsv, and its numbers as a table.

    python docs/generate_figures.py FILE

The plots are SVG inside of the page, in its colours, so they fit a dark and a light one. They are as wide as the page
allows.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pixel_way.drawings import Drawing

TABLE = Path(__file__).resolve().parents[1] / "benchmarks" / "figures.tsv"
COLUMNS = (
    "chart", "series", "label", "value", "unit", "promised", "statistic", "conditions", "machine", "date", "load",
    "source",
)  # fmt: skip
ROOM = 84
"""How much of the width, in percent, the longest bar takes: its number follows it."""
BAR, BETWEEN, GAP, HEAD = 14, 2, 8, 18
"""Heights in pixels: of a bar, between bars, between groups of bars, of the name above a group."""


@dataclass(frozen=True)
class Figure:
    """A row of the table. value: as it is written there."""

    chart: str
    series: str
    label: str
    value: str
    unit: str
    promised: str
    statistic: str
    conditions: str
    machine: str
    date: str
    load: str
    source: str

    @property
    def where(self) -> str:
        """On which machine, when, and beside what."""
        load = "quiet" if self.load == "quiet" else f"load {self.load}"
        return f"{self.date}, {self.machine}, {load}; {self.conditions}"


@dataclass(frozen=True)
class Chart:
    """A plot. longer: what a longer bar means. how: how it was measured; limits: what it does not say."""

    name: str
    title: str
    longer: str
    how: str
    limits: str


CHARTS = (
    Chart(
        "captures", "3DS frames against an emulator", "faster",
        "20 recordings of public example programs are replayed (those of [Agreement](agreement.md) without "
        "hwtest_texcopy), and the time of a frame is compared with the best time of a C++ emulator's software "
        "renderer. The figures are the geometric mean of the recordings, and the least of them.",
        "The emulator's times come from another machine. They are scaled by a rasteriser in C++ that runs on both, as "
        "far as its speed there is known.",
    ),
    Chart(
        "recordings", "The same, recording by recording", "faster",
        "Each recording was replayed many times; the best time counts. A fresh machine has not drawn anything before.",
        "These are figures of another machine and another day than those above.",
    ),
    Chart(
        "llvmpipe", "Switch frames against llvmpipe", "slower",
        "Seven scenes are drawn in turns by pocketgpu and by Mesa's llvmpipe, which draws with OpenGL on a processor. "
        "Both use two threads. A bar is the slower one of two runs, as a multiple of llvmpipe's time.",
        "llvmpipe always compiles for the processor that it finds. With code for AVX2 only pocketgpu is limited.",
    ),
    Chart(
        "starts", "Starts", "slower",
        "The time of a whole process, from its start to its end, that makes one picture of a recording, as a multiple "
        'of `python -c "import numpy"` beside it. Cold means that the cache of compiled code of the user is empty.',
        "These are starts with code for AVX-512. The file of all figures has those with code for AVX2, too. The "
        "promise is about every recording.",
    ),
    Chart(
        "pixels", "The 3DS's pixels against C++", "faster",
        "Pixels per second of a usual state (bilinear texture, three combiners, depth test, blending), one thread, "
        "against a scalar rasteriser in C++ that gives the same bytes.",
        "The rasteriser is our own, and reads its state for every pixel.",
    ),
    Chart(
        "kernels", "Kernels of the Switch's GPU against C", "slower",
        "Machine code of the Switch's GPU runs on one thread, and the same computation is written in C and compiled "
        "for this processor. The bars are multiples of the C's time.",
        "The C is a translation of the same CUDA sources, line by line. Other C may be quicker. A row that was "
        "measured alone is of another run, with less else on the machine.",
    ),
    Chart(
        "answers", "Answers of the command line", "slower",
        "Process start to exit of three questions on each recording, with a warm cache, as multiples of "
        '`python -c "import numpy"` beside them.',
        "The promise is in seconds on a machine where that takes 0.26 s, so it is not drawn here.",
    ),
    Chart(
        "second-answers", "The second question in Python", "slower",
        "How long `why` of a pixel takes in a process that has answered one before.",
        "The first question of a process also loads the recording.",
    ),
    Chart(
        "viewer-opening", "The viewer: opening", "slower",
        "From the command `pocketgpu view` to a page in Chromium with events and a picture, on every recording.",
        "A busy machine takes longer: at a load of 10 to 14 without priority, opening took 1.9 to 3.2 s.",
    ),
    Chart(
        "viewer-clicks", "The viewer: clicks and events", "slower",
        "From a click on a pixel to its answer, and from another event to its picture, until both are painted.",
        "Medians are of later clicks; the first one after opening takes longer. Of other events only the median has a "
        "promise.",
    ),
    Chart(
        "sweep", "Sweeps of many captures", "faster",
        "1000 captures are rendered by 1, 2 and 4 worker processes on a machine with two processors. It is promised "
        "that two workers are 1.7 times as fast as one.",
        "Four workers on two processors have nothing more to use; they are here to show what that costs.",
    ),
)  # fmt: skip
"""The plots, in the order of the page."""


def read(path: Path = TABLE) -> list[Figure]:
    """The rows of the table.

    :raises ValueError: a row does not have all columns.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    head, *rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if tuple(head) != COLUMNS:
        raise ValueError(f"{path.name}: the columns are {head}")
    for number, row in enumerate(rows, 1):
        if len(row) != len(COLUMNS):
            raise ValueError(f"{path.name}: row {number} has {len(row)} columns")
    return [Figure(*row) for row in rows]


def drawn(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    """The bars by label: one for each series. Of several runs of one, that with the largest value."""
    bars: dict[str, dict[str, Figure]] = {}
    for one in figures:
        seen = bars.setdefault(one.label, {})
        if one.series not in seen or float(one.value) > float(seen[one.series].value):
            seen[one.series] = one
    return {label: list(seen.values()) for label, seen in bars.items()}


def plot(chart: Chart, figures: Sequence[Figure]) -> str:
    """The plot as SVG on one line."""
    bars = drawn(figures)
    series = list(dict.fromkeys(one.series for one in figures))
    numbers = [float(one.value) for some in bars.values() for one in some]
    promises = [float(one.promised) for some in bars.values() for one in some if one.promised]
    scale = ROOM / max(numbers + promises)
    legend = len(series) * HEAD + GAP if len(series) > 1 else 0
    height = legend + sum(HEAD + len(some) * (BAR + BETWEEN) + GAP for some in bars.values())
    name = f"{chart.title}: bars in {figures[0].unit}, the same numbers as in the table below"
    drawing = Drawing("100%", height, name, "plot")
    for number, one in enumerate(series if legend else ()):
        drawing.rect(0, number * HEAD + 3, 12, 12, _kind(number))
        drawing.text(18, number * HEAD + 14, one, anchor="start")
    y = legend
    for label, some in bars.items():
        drawing.text(0, y + 13, label, anchor="start")
        top = y + HEAD
        places = [(top + number * (BAR + BETWEEN), one) for number, one in enumerate(some)]
        for at, one in places:
            drawing.rect(0, at, _percent(one.value, scale), BAR, _kind(series.index(one.series)))
        y = top + len(some) * (BAR + BETWEEN)
        for limit in dict.fromkeys(one.promised for one in some if one.promised):
            about = [at for at, one in places if one.promised == limit]
            x = _percent(limit, scale)
            drawing.line(x, about[0] - 3, x, about[-1] + BAR + BETWEEN + 1, "promise")
        for at, one in places:  # over the line, so that it can be read
            drawing.text(_percent(one.value, scale), at + 11, one.value, "small", "start", right=5)
        y += GAP
    return drawing.svg


def _percent(value: str, scale: float) -> str:
    return f"{float(value) * scale:.2f}%"


def _kind(number: int) -> str:
    return "bar" if number == 0 else "other"


def section(chart: Chart, figures: Sequence[Figure]) -> list[str]:
    """The plot of a group with its table."""
    promised = any(one.promised for one in figures)
    line = " A dashed line is what is promised of the bars that it crosses." if promised else ""
    caption = f"In {figures[0].unit}; a longer bar is {chart.longer}.{line}"
    lines = [f"## {chart.title}", "", chart.how, "", f"Limits: {chart.limits}", ""]
    lines += [
        ":::{raw} html",
        f'<figure class="drawing">{plot(chart, figures)}<figcaption>{escape(caption)}</figcaption></figure>',
        ":::", "",
    ]  # fmt: skip
    lines += table(figures)
    if promised:
        late = [f"{_named(one)}: {one.value}, promised {one.promised}" for one in figures if missed(chart, one)]
        lines += ["Promises that these figures miss:", "", *(f"- {one}" for one in late), ""] if late else [
            "These figures keep all promises.", "",
        ]  # fmt: skip
    return lines


def missed(chart: Chart, figure: Figure) -> bool:
    """Whether a figure does not reach what is promised of it."""
    if not figure.promised:
        return False
    value, promised = float(figure.value), float(figure.promised)
    return value < promised if chart.longer == "faster" else value > promised


def _named(figure: Figure) -> str:
    return f"{figure.label} ({_column(figure.series, figure.statistic)})"


def table(figures: Sequence[Figure]) -> list[str]:
    """The numbers as a table, a column for each series and statistic, and where they were measured."""
    columns = list(dict.fromkeys((one.series, one.statistic) for one in figures))
    places = list(dict.fromkeys(one.where for one in figures))
    rows: dict[str, dict[tuple[str, str], Figure]] = {}
    for one in figures:
        rows.setdefault(one.label, {})[one.series, one.statistic] = one
    promised = any(one.promised for one in figures)
    head = ["figure", *(_column(*one) for one in columns), *(["promised"] if promised else [])]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for label, cells in rows.items():
        row = [label]
        for column in columns:
            one = cells.get(column)
            mark = f" ({places.index(one.where) + 1})" if one is not None and len(places) > 1 else ""
            row.append("" if one is None else one.value + mark)
        lines.append(f"| {' | '.join([*row, *([_promise(list(cells.values()))] if promised else [])])} |")
    measured = [f"{number}. {one}." for number, one in enumerate(places, 1)] if len(places) > 1 else [f"{places[0]}."]
    return [*lines, "", f"Measured, in {figures[0].unit}:", "", *measured, ""]


def _promise(cells: Sequence[Figure]) -> str:
    """What is promised of the figures of a row, and of which, if it is not the same for all."""
    if len({one.promised for one in cells}) == 1:
        return cells[0].promised
    return ", ".join(f"{one.promised} ({_column(one.series, one.statistic)})" for one in cells if one.promised)


def _column(series: str, statistic: str) -> str:
    return statistic if series in ("", statistic) else f"{series}, {statistic}"


def page(figures: Sequence[Figure]) -> str:
    """The page."""
    lines = [
        "# Measured figures", "",
        "How fast pocketgpu is, and against what. All figures are from {download}`a file <../benchmarks/README.md>`",
        "that has many more and says how each was measured. Figures of different machines, or of different days,",
        "cannot be compared with each other. `make bench` measures them on your machine.", "",
    ]  # fmt: skip
    for chart in CHARTS:
        lines += section(chart, [one for one in figures if one.chart == chart.name])
    return "\n".join(lines)


def generate(path: Path) -> None:
    """Write the page."""
    path.write_text(page(read()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/generate_figures.py FILE")
    generate(Path(sys.argv[1]))
    print(f"{len(CHARTS)} plots in {sys.argv[1]}")
