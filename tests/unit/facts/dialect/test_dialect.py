"""The dialect of the tables: its reader, and that all tables of both consoles keep to it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.facts import list_entry, maxwell, pica_enums, vertices
from pocketgpu.facts.dialect import tables
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.dialect.structures import BitStructure
from pocketgpu.facts.dialect.tables import Tables
from pocketgpu.facts.dialect.values import Named, Values
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import CALL_HEADER, ENTRY, GX_HEADER
from pocketgpu.facts.maxwell import classes, headers
from pocketgpu.facts.n3ds import TABLES as N3DS_TABLES
from pocketgpu.facts.pica import PICA

PACKAGE = Path(pocketgpu.__file__).parent
FOLDERS = {"n3ds": N3DS_TABLES, "maxwell": classes.TABLES}
PATHS = sorted(path for folder in FOLDERS for path in (PACKAGE / "facts" / folder).glob("*.tsv"))
_3DS_ROOMS = ("pica", "capture", "inspect", "builder", "cli")
_SYMBOL = re.compile(r"[A-Z_][A-Z0-9_]*")


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line and line[0] != "#"]


# -- the tables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_rows_fit_their_columns(path: Path) -> None:
    head, *rest = _lines(path)
    columns, below = head.split("\t"), None
    assert len(set(columns)) == len(columns)
    for line in rest:
        assert line == line.rstrip(), f"{line!r} ends with nothing"
        cells = line.split("\t")
        if cells[0]:
            assert len(cells) <= len(columns), line
        elif below is None:
            below = cells
        else:
            assert len(cells) <= len(below) and cells[1], line


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_marks_are_those_of_the_sources(path: Path) -> None:
    shared = FOLDERS[path.parent.name]
    head = shared.read(path.stem)[0].cells
    if not {"register", "method", "structure"} & set(head) or "marks" not in _lines(path)[0].split("\t"):
        return
    for entry in shared.read(path.stem):
        marks = tables.parse_marks(entry["marks"])
        others = [word[1:] for word in entry["marks"].split() if word[0] == "="]
        assert marks.source in shared.sources, entry.cells
        assert all((path.parent / f"{name}.tsv").exists() for name in others)
        assert all(row.get("marks", "") in shared.sources for row in entry.rows), entry.cells


def _described() -> Iterator[tuple[str, tuple[Field, ...]]]:
    for block in (PICA, EXTERNAL, LCD):
        yield from ((register.name, register.fields) for register in block)
    for methods in classes.CLASSES.values():
        yield from ((method.name, method.fields) for method in methods.methods)
    for structure in _structures():
        yield structure.name, tuple(structure.elements())


def _structures() -> Iterator[BitStructure]:
    yield from (list_entry.LIST_ENTRY, GX_HEADER, CALL_HEADER, ENTRY, headers.TSC)
    for several in (headers.TIC, headers.QMD, headers.SPH, headers.GPFIFO):
        yield from several.values()


def test_bits_do_not_overlap() -> None:
    fields = 0
    for name, described in _described():
        taken = 0
        for field in described:
            fields += 1
            assert field.view or not taken & field.mask, f"{name}.{field.name}"
            taken |= 0 if field.view else field.mask
    assert fields > 4000


def test_values_fit_into_their_fields() -> None:
    for name, described in _described():
        for field in described:
            for number in field.enum or ():
                assert number >> field.width == 0, f"{name}.{field.name}: {number}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_values_have_symbols_and_texts(folder: str) -> None:
    for name, values in FOLDERS[folder].enumerations.items():
        assert re.fullmatch(r"[a-z0-9_]+", name)
        assert len(values) > 0
        for value in values.all():
            assert _SYMBOL.fullmatch(value.symbol), f"{name}: {value.symbol!r}"
            assert value.text.strip(), f"{name}.{value.symbol} has no text"
            assert values.number(value.symbol) == value.number


def test_symbols_are_no_numbers_in_disguise() -> None:
    for name, values in N3DS_TABLES.enumerations.items():
        for value in values.all():
            # A symbol that only repeats the number tells nothing; codes such as CODE_6 name what has no other name.
            assert value.symbol != f"VALUE_{value.number}", f"{name}.{value.symbol}"


# -- the reader -----------------------------------------------------------------------------------------------


def test_cells_are_taken_apart() -> None:
    assert tables.parse_bits("9:6") == (6, 4, False)
    assert tables.parse_bits("5") == (5, 1, False)
    assert tables.parse_bits("31:0 view") == (0, 32, True)
    assert tables.parse_array("16*0x10") == ((16,), 16) and tables.parse_array("16*0x10").elements == 16
    assert tables.parse_array("4x2*8").elements == 8
    assert tables.parse_array("") == ((), 0)
    assert tables.parse_offsets("040") == (0x40,)
    assert tables.parse_offsets("081,091,099") == (0x81, 0x91, 0x99)
    assert tables.parse_offsets("070-072") == (0x70, 0x71, 0x72)
    assert tables.parse_marks("! r gbatek") == (True, "r", True, "gbatek")
    assert tables.parse_marks("?") == (False, "rw", False, "")
    assert tables.parse_marks("=front driver") == (False, "rw", True, "driver")


def test_braces_are_lists() -> None:
    assert tables.parse_list("x,y,z") == ("x", "y", "z")
    assert tables.parse_list("0..3") == ("0", "1", "2", "3")
    assert tables.parse_list("00..11")[9:] == ("09", "10", "11")
    assert tables.parse_list("0,4..12") == ("0", "4", "8", "12")
    assert tables.expand("A{0..2}_{x,y,z}", 1) == "A1_y"
    assert tables.names_of("B{0,2}_END") == ["B0_END", "B2_END"]
    assert tables.names_of("PLAIN") == ["PLAIN"]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Tables of a folder of this test's own, with a part, groups and values."""
    files = {
        "values": "enumeration\tvalues\n\tsymbol\tnumber\ttext\tmarks\nsize\tONE=0 TWO=1\nside\n"
        "\tLEFT\t0\tthe left one\n\tRIGHT{0..1}\t2\tright {first,second}\tm\n",
        "sources": "mark\tcertainty\tsource\n-\tdoc\t{page}\nm\tgbatek\tmeasured\n",
        "groups": "group\n\tfield\tbits\ttype\nboth\n\tlow\t7:0\n\thigh\t15:8\tsize\n",
        "unit": "offset\tregister\tarray\tmarks\treset\n\tfield\tbits\ttype\tarray\tunit\tdoc\n"
        "0\tCONFIG\t\t\t{5,6}\n\t@both\n\tside\t17:16\tside\n1\tDATA{0..1}\t2*1\t! w m\n",
        "main": "offset\tregister\tarray\tmarks\treset\n\tfield\tbits\ttype\tarray\tunit\tdoc\n"
        "# A comment.\n10,20\tUNIT{0..1}_@unit\n22\tOWN\n\tbit{0..3}\t0\tbool\t4*8\t\tnumber {0..3}\n",
    }
    monkeypatch.setattr(tables, "read", lambda path: tables.parse(path, files[Path(path).stem]))
    return Tables("here")


def test_parts_stand_where_the_table_names_them(folder: Tables) -> None:
    found = {
        (entry.prefix + name, offset): entry
        for entry in folder.entries("main", "register")
        for name, offset in zip(tables.names_of(entry["register"]) * 2, entry.offsets, strict=False)
    }
    # The table's own row at 22 replaces the part's second one there, DATA0 of UNIT1.
    assert [key for key in found if key[1] == 0x22] == [("OWN", 0x22)]
    config = found["UNIT1_CONFIG", 0x20]
    assert tables.expand(config["reset"], config.element) == "6"
    fields = folder.fields(config.rows)
    assert [(f.name, f.lo, f.width) for f in fields] == [("low", 0, 8), ("high", 8, 8), ("side", 16, 2)]
    assert fields[1].enum is not None and fields[1].enum.number("TWO") == 1
    side = fields[2].enum
    assert side is not None and dict(side) == {0: "the left one", 2: "right first", 3: "right second"}
    assert side.named(3) == Named(3, "RIGHT1", "right second", "measured", tables.Certainty.GBATEK)
    bits = tables.apart(folder.fields(found["OWN", 0x22].rows))
    assert [(one.name, one.lo, one.doc) for one in bits][:2] == [("bit0", 0, "number 0"), ("bit1", 8, "number 1")]


def test_a_row_without_a_head_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"broken\.tsv: a row without a head: lost"):
        tables.parse("broken.tsv", "offset\tregister\n\tfield\tbits\n\tlost\t3:0\n")


def test_values_are_found_by_symbol_and_number() -> None:
    sides = tables.parse_values("side", "LEFT=0 RIGHT=0x2 OTHER=2")
    assert sides.LEFT == 0 and sides.number("RIGHT") == 2 and sides.symbol(2) == "RIGHT"
    assert sides[2] == "RIGHT|OTHER" and list(sides) == [0, 2] and 1 not in sides
    assert sides.numbers("LEFT", "OTHER") == {0, 2}
    with pytest.raises(AttributeError, match="side has no value UP"):
        sides.UP  # noqa: B018
    with pytest.raises(KeyError, match="LEFT, RIGHT"):
        sides.number("UP")
    with pytest.raises(ValueError, match="two have the symbol A"):
        Values.of("twice", [Named(0, "A", "a"), Named(1, "A", "b")]).symbol(0)


def test_cases_are_put_in_the_order_of_numbers() -> None:
    sizes = tables.parse_values("size", "ONE=0 TWO=1 FOUR=3")
    assert sizes.in_order({"FOUR": "4", "ONE": "1", "TWO": "2"}, otherwise="?") == ["1", "2", "?", "4"]
    with pytest.raises(KeyError, match="no case for FOUR"):
        sizes.in_order({"ONE": 1, "TWO": 2})
    with pytest.raises(ValueError, match="a number before 3 has no case"):
        sizes.in_order({"ONE": 1, "TWO": 2, "FOUR": 4})


# -- those who use them ---------------------------------------------------------------------------------------


def test_tables_are_read_when_they_are_needed() -> None:
    code = (
        "from pocketgpu.facts.n3ds import TABLES\n"
        "from pocketgpu.facts.pica import PICA\n"
        "from pocketgpu.facts.external import EXTERNAL, LCD\n"
        "from pocketgpu.facts import pica_enums\n"
        "assert not TABLES.loaded, TABLES.loaded\n"
        "PICA['FINALIZE']\n"
        "assert 'pica' in TABLES.loaded and 'external' not in TABLES.loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _trees(rooms: tuple[str, ...]) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8"))


def test_symbols_that_code_names_are_in_the_tables() -> None:
    checked = 0
    for path, tree in _trees((*_3DS_ROOMS, "facts")):
        imported = {
            alias.asname or alias.name: getattr(pica_enums, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "pocketgpu.facts.pica_enums"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            if node.value.id in imported and node.attr.isupper():
                checked += 1
                assert node.attr in imported[node.value.id].symbols, f"{path}:{node.lineno}: {node.attr}"
    assert checked > 250


def _number(node: ast.AST) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _takes_headers_apart(tree: ast.Module) -> list[int]:
    """Lines that shift by, or mask with, where a list entry's header has its byte mask or its count."""
    extra, mask = list_entry.EXTRA, list_entry.BYTE_MASK
    masks = {extra.mask, mask.mask, extra.mask | mask.mask}
    found = []
    for node in ast.walk(tree):
        by_hand = False
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift | ast.RShift):
            by_hand = _number(node.right) == extra.lo and _number(node.left) is None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            by_hand = not masks.isdisjoint((_number(node.left), _number(node.right)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            by_hand = node.func.attr in ("bits", "lsr", "asr") and _number(node.args[0]) == extra.lo
        if by_hand:
            found.append(node.lineno)
    return found


def test_headers_of_list_entries_are_taken_apart_by_the_table_only() -> None:
    by_hand = ast.parse("a = w >> 20 & 0xFF\nb = w & 0xF0000\nc = w.bits(20, 8)\nd = n << 20\ne = 1 << 20\n")
    assert sorted(_takes_headers_apart(by_hand)) == [1, 2, 3, 4]
    for path, tree in _trees(_3DS_ROOMS):
        if "switch" in path or "maxwell" in path or path.startswith("cli/commands/macro"):
            continue
        assert not _takes_headers_apart(tree), path


@pytest.mark.parametrize(("id_", "parameters", "consecutive", "byte_mask"), [(0, 1, False, 15), (0x2DD, 256, True, 5)])
def test_headers_of_list_entries(id_: int, parameters: int, consecutive: bool, byte_mask: int) -> None:
    word = list_entry.header_word(id_, parameters, consecutive, byte_mask)
    header = list_entry.header_of(word)
    assert header == (id_, byte_mask, parameters - 1, int(consecutive))
    assert list_entry.length_of(word) == -(-(1 + parameters) // 2) * 2
    with pytest.raises(ValueError, match="extra"):
        list_entry.header_word(0, list_entry.MOST_PARAMETERS + 1, consecutive=False)


def test_fields_of_vertex_lists_go_on_in_the_next_register() -> None:
    for attribute in range(16):
        bound = PICA.field(vertices.input_field(attribute))
        assert bound.register.offset == 0x2BB + attribute // 8 and bound.lo == attribute % 8 * 4
    for attribute in range(12):
        kind, size = (PICA.field(path) for path in vertices.format_fields(attribute))
        assert kind.register is size.register and size.lo == kind.lo + 2
        assert PICA.field(vertices.component_field(3, attribute)).lo == attribute % 8 * 4
    assert [vertices.skipped_bytes(code) for code in (11, 12, 15)] == [0, 4, 16]
    assert set(vertices.CLOCKS) == {field.name for field in PICA["SH_OUTATTR_CLOCK"].fields}


def test_the_two_consoles_have_one_reader() -> None:
    readers = {
        path
        for path, tree in _trees(("facts",))
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == "\t"
    }
    own = {"facts/dialect/tables.py", "facts/maxwell/sass/table.py", "facts/choices/evidence.py"}
    assert maxwell is not None and readers <= own
