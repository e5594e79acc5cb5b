"""Tables of rows: columns, order, slices, and what notebooks and other programs get of them."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from pocketgpu.displayed import MOST_ROWS
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.notebook.rows import Row, Table

BAD = "<script>alert('&')</script>\x1b[31m"


@dataclass(frozen=True, repr=False)
class Sized(Row):
    """A row of a test."""

    name: str
    size: int | None
    share: float = 0.5
    on: bool = True


def table(*sizes: int | None) -> Table[Sized]:
    return Table(Sized, [Sized(f"n{n}", size) for n, size in enumerate(sizes)], "some sizes", "one was left out")


def test_a_table_is_a_sequence_of_its_rows() -> None:
    found = table(3, 1234567, 2)
    assert len(found) == 3 and found[1].size == 1234567 and found[-1] == Sized("n2", 2)
    assert [row.name for row in found] == ["n0", "n1", "n2"] and Sized("n1", 1234567) in found
    part = found[1:]
    assert isinstance(part, Table) and [row.size for row in part] == [1234567, 2] and part.title == "some sizes"
    with pytest.raises(IndexError):
        found[3]


def test_columns_have_the_values() -> None:
    assert table(3, None).columns == {
        "name": ["n0", "n1"], "size": [3, None], "share": [0.5, 0.5], "on": [True, True],
    }  # fmt: skip
    assert table().columns == {"name": [], "size": [], "share": [], "on": []}


def test_rows_are_sorted_by_a_column() -> None:
    found = table(3, None, 5, 3)
    assert [row.name for row in found.sorted("size")] == ["n2", "n0", "n3", "n1"]
    assert [row.name for row in found.sorted("size", descending=False)] == ["n0", "n3", "n2", "n1"]
    assert found.sorted("name")[:1].left == "one was left out"
    with pytest.raises(UsageError, match=r"no column 'weight'.* name, size, share, on"):
        found.sorted("weight")


def test_a_table_shows_itself() -> None:
    found = table(1234567, None)
    assert repr(found) == "<Table some sizes>"
    assert str(found).splitlines() == [
        "some sizes", "name  size       share  on", "n0    1,234,567  0.5    yes", "n1               0.5    yes",
        "one was left out",
    ]  # fmt: skip
    assert [str(row) for row in found] == [
        "name n0, size 1,234,567, share 0.5, on yes", "name n1, share 0.5, on yes",
    ]  # fmt: skip
    html = found._repr_html_()
    assert html.startswith("<p>some sizes</p><table><tr><th>name</th>") and html.endswith("<p>one was left out</p>")
    assert "<td>1,234,567</td>" in html and "<td></td>" in html


def test_long_tables_are_cut_and_say_so() -> None:
    found = table(*range(MOST_ROWS + 7))
    assert str(found).count("\n") == MOST_ROWS + 3 and f"7 of {MOST_ROWS + 7} rows" in str(found)
    assert found._repr_html_().count("<tr>") == MOST_ROWS + 1 and "rows are left out here" in found._repr_html_()


def test_texts_of_a_capture_are_escaped() -> None:
    found = Table(Sized, [Sized(BAD, 1)], BAD, BAD)
    html = found._repr_html_()
    assert "<script>" not in html and "\x1b" not in html and html.count("&lt;script&gt;") == 3
    assert repr(found).isprintable() and "\x1b" not in str(found).splitlines()[2]


def test_other_programs_take_a_table_as_it_is() -> None:
    """pandas and polars make columns of a sequence of dataclasses."""
    found = table(3, 4)
    assert [asdict(row) for row in found] == [
        {"name": "n0", "size": 3, "share": 0.5, "on": True}, {"name": "n1", "size": 4, "share": 0.5, "on": True},
    ]  # fmt: skip


@pytest.mark.parametrize("module", ["pandas", "polars"])
def test_data_frames_have_the_columns(module: str) -> None:
    frames = pytest.importorskip(module, reason=f"{module} is not installed")
    found = frames.DataFrame(table(3, 4))
    assert list(found.columns) == ["name", "size", "share", "on"] and found["size"].to_list() == [3, 4]
