"""The reference of the site: registers, structures and instructions are there once, and are drawn as the tables say."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.site import DOCS, site_module

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.maxwell import B197, CLASSES, TIC, BitField
from pocketgpu.facts.maxwell.headers import STRUCTURES
from pocketgpu.facts.maxwell.sass import FORMS
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.shader_isa import OPCODES

BITS = site_module("reference_pages.bits")
ABOUT = site_module("reference_pages.about")
CATALOGUE = site_module("reference_pages.catalogue")
NAMES = site_module("reference_pages.names")
Part = BITS.Part
Pages = dict[str, str]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """All pages by their names without suffix."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "old.md").write_text("from an earlier run", encoding="utf-8")
    generate: Callable[[Path], list[Path]] = runpy.run_path(str(DOCS / "generate_registers.py"))["generate"]
    written = generate(folder)
    assert sorted(written) == sorted(folder.iterdir())
    found = {path.stem: path.read_text(encoding="utf-8") for path in written}
    again = {path.stem: path.read_text(encoding="utf-8") for path in generate(folder)}
    assert found == again, "the reference is the same every time"
    return found


def section(pages: Pages, page: str, title: str) -> str:
    """A section of a page, from its heading to the next one."""
    text = pages[page]
    return text[text.index(f"## {title}\n") :].split("\n## ")[0]


class Drawing(HTMLParser):
    """What a drawing shows: for each column its number and the text, or the class, of the cell below it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.numbers: list[int] = []
        self.columns: list[str] = []
        self._cell = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("th", "td"):
            self._cell = tag
        if tag == "td":
            name = (given.get("title") or "").rpartition(" ")[0]
            kind = {"u": "-", "f": ""}.get(given.get("class") or "", name)
            self.columns += [kind] * int(given.get("colspan") or 1)

    def handle_data(self, data: str) -> None:
        if data.strip() and self._cell == "th":
            self.numbers.append(int(data))
        elif data.strip() and self.columns and self.columns[-1] == "":
            self.columns[-1] = data.strip()

    @property
    def bits(self) -> dict[int, str]:
        assert len(self.numbers) == len(self.columns)
        return dict(zip(self.numbers, self.columns, strict=True))


def drawings(text: str) -> Iterator[str]:
    """All drawings of a text."""
    yield from re.findall(r'<div class="bits".*?</div>', text, re.DOTALL)


# -- drawings ---------------------------------------------------------------------------------------------------------
def test_a_drawing_has_a_cell_for_each_bit() -> None:
    (html,) = drawings(BITS.drawing([Part(4, 12, "low"), Part(16, 1, "a_flag"), Part(31, 1, fixed="1")]))
    shown = Drawing(html).bits
    assert list(shown) == list(range(31, -1, -1))
    expected = {31: "1", 16: "a_flag", **{bit: "low" for bit in range(4, 16)}}
    assert shown == {bit: expected.get(bit, "-") for bit in range(32)}
    assert 'role="img" aria-label="Bits: 31 always 1, 30-17 unused, 16 a_flag, 15-4 low, 3-0 unused"' in html


def test_a_field_in_both_halves_is_named_in_its_middle() -> None:
    """Bits 23 to 8: half of it in each table. 25 to 0: 10 of 26 bits in the left table, whose middle is at 130 %."""
    html = BITS.drawing([Part(8, 16, "x")])
    assert '<td class="l" colspan=8 title="x 23-8"><span style="left:100%">x</span>' in html
    assert '<td class="r" colspan=8 title="x 23-8"><span>x</span>' in html
    assert 'style="left:130%"' in BITS.drawing([Part(0, 26, "x")])


def test_long_names_of_few_bits_are_written_upwards() -> None:
    assert '<td class="v" title="alpha_test 3"><span>alpha_test</span>' in BITS.drawing([Part(3, 1, "alpha_test")])
    assert '<td title="on 3">on' in BITS.drawing([Part(3, 1, "on")])
    assert "<table><tr>" in BITS.drawing([Part(0, 16, "address")])
    html = BITS.drawing([Part(0, 1, "N" * 60), Part(32, 8, "V")], 64)
    styles = re.findall(r"<table([^>]*)>", html)
    assert styles == ["", "", ' style="--h:9rem"', ' style="--n:9rem"'], "both of the lower row, alone only the second"


def test_names_cannot_break_a_drawing() -> None:
    html = BITS.drawing([Part(0, 16, '<i>"&')], title='"><script>')
    assert "<i>" not in html and "<script>" not in html and html.count("&quot;") >= 3


def test_overlapping_parts_are_refused_or_put_into_layers() -> None:
    with pytest.raises(ValueError, match="bit 2 is in two parts: b and a"):
        BITS.drawing([Part(0, 4, "a"), Part(2, 2, "b")])
    assert BITS.layers([Part(0, 4, "a"), Part(2, 2, "b"), Part(8, 1, "c")]) == [
        [Part(0, 4, "a"), Part(8, 1, "c")], [Part(2, 2, "b")],
    ]  # fmt: skip


def test_many_values_are_folded() -> None:
    assert BITS.named({0: "a<b", 7: "c"}) == "<b>0</b> a&lt;b, <b>7</b> c"
    assert BITS.named({number: "value" * 5 for number in range(20)}).startswith("<details><summary>20 values</summary>")
    assert BITS.with_sentence("yes or no", "a & b") == "yes or no. a &amp; b"
    assert BITS.with_sentence("<details>x</details>", "a") == "a\n<details>x</details>"


# -- registers --------------------------------------------------------------------------------------------------------
def test_the_reference_holds_every_register_once(pages: Pages) -> None:
    text = "\n".join(pages.values())
    anchors = re.findall(r"^\((register-[\w-]+)\)=$", text, re.MULTILINE)
    expected = [f"register-{register.name.lower().replace('_', '-')}" for block in BLOCKS for register in block]
    assert sorted(anchors) == sorted(expected)
    methods = re.findall(r"^\((method-[\w-]+)\)=$", text, re.MULTILINE)
    assert sorted(methods) == sorted(
        f"method-{block.name}-{method.name.lower().replace('_', '-')}" for block in CLASSES.values() for method in block
    )


def test_every_page_is_listed_once(pages: Pages) -> None:
    listed = re.findall(r"^generated/(\S+)$", (DOCS / "reference" / "registers.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(pages)


def test_pages_are_of_a_readable_length(pages: Pages) -> None:
    """Families of methods have a page each; what is in none is what nobody needs."""
    sections = {name: text.count("\n## ") for name, text in pages.items()}
    assert max(sections.values()) <= 90, sections
    other = next(page for page in CATALOGUE.pages() if page.name == "switch-b197-other")
    plain = [one.name for one in other.registers if not re.search("SPARE|RESERVED", one.name)]
    assert len(plain) < 15, plain


def test_each_drawing_shows_the_fields_of_its_registers(pages: Pages) -> None:
    """Of every register of a section, in the first drawing; none is left out."""
    by_anchor = {NAMES.anchor(one): one for page in CATALOGUE.pages() for one in page.registers}
    compared = 0
    for page in CATALOGUE.pages():
        for part in re.split(r"\n\n(?=\((?:register|method)-)", pages[page.name])[1:]:
            registers = [by_anchor[one] for one in re.findall(r"^\(([\w-]+)\)=$", part, re.MULTILINE)]
            shown = [Drawing(one).bits for one in drawings(part)]
            assert bool(shown) == any(register.fields for register in registers), registers[0]
            for register in registers if shown else ():
                fields = [field for field in register.fields if not field.view]
                for bit in range(32):
                    names = [field.name for field in fields if field.mask >> bit & 1]
                    assert [shown[0][bit]] == (names or ["-"]), (register.name, bit)
                compared += 1
    assert compared == sum(bool(register.fields) for register in by_anchor.values())


def test_a_register_page_says_what_the_table_says(pages: Pages) -> None:
    part = section(pages, "external", "PPF_FLAGS")
    assert (
        "Offset 0xC10, physical 0x10400C10, for programs 0x1EF00C10, read and write, writable bits 0x0301772F." in part
    )
    assert "<td>25-24\n<td><code>scale</code>\n<td><b>0</b> none, <b>1</b> 2x1, <b>2</b> 2x2" in part
    assert "<td>yes or no. needed when output rows are shorter than input rows" in part
    assert "*Source: 3dbrew GPU/External Registers (doc: the public documentation says so).*" in part
    assert "{choice}`transfer.block32`" in part and "{rule}`transfer.mismatch`" in part
    assert pages["external"].count("pocketgpu regs") == 1, "once for all registers"
    assert "`pocketgpu regs HARDWARE_ID` shows a register and explains values of it." in pages["external"]
    assert "<code>ext2.transfer-flags.10-8</code> Input format" in part
    assert "Also called `GPUREG_TEXENV_UPDATE_BUFFER`." in section(pages, "pica-combiners", "TEXENV_UPDATE_BUFFER")


def test_like_registers_share_a_section(pages: Pages) -> None:
    part = section(pages, "pica-lighting", "LIGHTING_LUT_DATA0 to LIGHTING_LUT_DATA7")
    assert "\n\nId 0x1C8 to 0x1CF, physical 0x10401720 to 0x1040173C, for programs 0x1EF01720 to 0x1EF0173C," in part
    part = section(pages, "pica-lighting", "LIGHT0_DIFFUSE to LIGHT7_DIFFUSE")
    assert "Id 0x142 to 0x1B2, physical 0x10401508 to 0x104016C8" in part
    assert ", for programs 0x1EF01508 to 0x1EF016C8, 0x10 apart" in part
    part = section(pages, "pica-combiners", "TEXENV0_COLOR to TEXENV5_COLOR")
    assert "\n\nIds 0x0C3, 0x0CB, 0x0D3, 0x0DB, 0x0F3 and 0x0FB, read and write." in part
    assert "<td>TEXENV4_COLOR\n<td>0x0F3\n<td>0x104013CC\n<td>0x1EF013CC" in part


def test_pages_of_the_switch_say_what_the_tables_say(pages: Pages) -> None:
    part = section(pages, "switch-b197-clears", "CLEAR_SURFACE")
    assert "Word 0x674, byte 0x19D0, a write triggers an action." in part
    assert "<td>9-6\n<td><code>MRT_<wbr>SELECT</code>\n<td>0 to 15. Number of the slot of the colour target." in part
    (line,) = re.findall(".*pocketgpu regs.*", pages["switch-b197-clears"])
    assert re.match(r"`pocketgpu regs b197 (\w+)` shows a method .* call this one `NVB197_\1`\.", line)
    assert "Word 0x200, byte 0x0800, 8 of them, 16 words apart." in pages["switch-b197-targets"]


def test_other_readings_of_bits_are_drawn_below(pages: Pages) -> None:
    part = section(pages, "switch-b197-clears", "SET_COLOR_CLEAR_VALUE")
    assert len(list(drawings(part))) == 2 and "The same bits, read in another way: 31-0 AS_FLOAT" in part


# -- what is known elsewhere ------------------------------------------------------------------------------------------
def test_rows_of_documents_are_about_registers() -> None:
    """All but those of classes, headers, shared memory and an unexplained range."""
    without = Counter(row.partition(".")[0] for row in ABOUT.titles() if not ABOUT.meant(row))
    assert without == {"gsp": 50, "channel": 5, "cmd": 3, "ext": 1, "ext2": 1}
    assert ABOUT.meant("cmd.id.0x809F0081") == ("TEXUNIT0_BORDER_COLOR",)
    assert ABOUT.meant("ext2.pdc.0x28") == ("PDC0_VSTART", "PDC1_VSTART")
    assert ABOUT.meant("ext.fill.0x1EF000X4") == ("PSC0_END", "PSC1_END")
    assert ABOUT.meant("ext2.map.0x1EF01080") == ("IRQ_CMP0",)
    assert ABOUT.meant("b197.0x041") == ("b197.SET_NOTIFY_A", "b197.SET_NOTIFY_B")
    assert ABOUT.meant("b197.0x51f") == ("b197.SET_DEPTH_BIAS_CLAMP",), "the page has it at a wrong word"
    assert ("cmd.alphatype.2", "Function class 2: greater, greater or equal") in ABOUT.rows([PICA["GAS_DELTAZ_DEPTH"]])


def test_the_table_of_rows_names_registers_that_exist() -> None:
    names = [one.name for block in BLOCKS for one in block]
    for pattern, wanted in ABOUT.patterns():
        assert any(ABOUT.fnmatchcase(row, pattern) for row in ABOUT.titles()), pattern
        for name in wanted:
            assert any(ABOUT.fnmatchcase(one, name) for one in names), (pattern, name)


def test_rules_are_found_by_the_names_in_their_texts() -> None:
    def rules(*registers: Any) -> list[str]:
        return [rule.id for rule in ABOUT.rules(registers)]

    assert "switch.no-program" in rules(B197["SET_PROGRAM_REGION_B"]), "the text has SET_PROGRAM_REGION"
    assert "vertex.stride" in rules(PICA["ATTRIBBUFFER7_CONFIG2"]), "the text has ATTRIBBUFFERi_CONFIG2"
    assert "list.no-finalize" in rules(PICA["FINALIZE"])
    assert rules(EXTERNAL["BACKLIGHT"]) == [] and "vertex.stride" not in rules(PICA["ATTRIBBUFFER7_CONFIG1"])


def test_scenes_are_found_by_what_they_write() -> None:
    scenes = site_module("gallery_scenes").scenes_using()
    registers = {name for page in CATALOGUE.pages() for name in map(ABOUT.key, page.registers)}
    assert scenes and scenes.keys() <= registers
    name = next(one for one in scenes if "." not in one)
    assert ABOUT.scenes([PICA.get(name) or EXTERNAL[name]]) == scenes[name]


# -- structures -------------------------------------------------------------------------------------------------------
def test_structures_are_drawn_word_by_word(pages: Pages) -> None:
    part = section(pages, "switch-textures", "TIC BL")
    shown = {
        int(re.search(r"Word (\d+) of TIC BL", one)[1]): Drawing(one).bits for one in drawings(part)
    }  # type: ignore[index]  # fmt: skip
    assert sorted(shown) == list(range(8))
    for field in TIC["BL"].elements():
        for bit in range(field.lo, field.hi + 1):
            assert shown[bit // 32][bit % 32] == field.name
    assert "<td>4\n<td>15-0\n<td><code>WIDTH_<wbr>MINUS_<wbr>ONE</code>" in part
    assert 'title="CONSTANT_BUFFER_VALID(3) ' in section(pages, "switch-launches", "QMD 01_07")
    assert "not used</p>" in section(pages, "switch-pushbuffers", "GPFIFO USERD")


def test_every_structure_has_a_place(pages: Pages) -> None:
    named = site_module("reference_pages.structures").PAGES
    shown = [one for page in named for one in page.structures.values()]
    assert {id(one) for one in STRUCTURES} <= {id(one) for one in shown}
    anchors = re.findall(r"^\((structure-[\w-]+)\)=$", "\n".join(pages.values()), re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(shown)


def test_a_field_of_two_words_has_a_part_in_each() -> None:
    structures = site_module("reference_pages.structures")
    assert structures.place(BitField("x", 24, 16)) == ("0-1", "31-24, 7-0")
    assert structures.place(BitField("x", 40, 1)) == ("1", "8")


def test_gx_commands_have_their_words_and_rows(pages: Pages) -> None:
    part = section(pages, "3ds-gx-commands", "MemoryFill")
    assert "(gx-displaytransfer)=" in pages["3ds-gx-commands"] and "Command 2. Fills one or two ranges" in part
    assert "<td>7\n<td><code>control</code>\n<td>two half-words, the low one first. words for the control" in part
    assert "Interrupts at its end: PSC0 and PSC1." in part and "8 rows of public documents" in part
    assert "<code>gsp.gx2.3</code> Memory fill: first buffer: end" in part
    shared = pages["3ds-gx-commands"].partition("## Shared memory")[2]
    assert "Client n's is at 0x200 + 0x80 n, screen s at 0x40 s from there; 0x40 bytes." in shared
    assert "<td>0x04-0x1f\n<td><code>entry0</code>" in shared and "<code>gsp.header.4</code>" in shared


# -- instructions -----------------------------------------------------------------------------------------------------
def test_every_form_of_the_switch_is_drawn_once(pages: Pages) -> None:
    text = "\n".join(text for name, text in pages.items() if name.startswith("switch-sass"))
    shown: dict[str, dict[int, str]] = {}
    for one in drawings(text):
        found = re.search(r'aria-label="Bits of ([^:]+):', one)
        assert found and found[1] not in shown
        shown[found[1]] = Drawing(one).bits
    assert sorted(shown) == sorted(FORMS)
    for name, form in FORMS.items():
        for bit in range(64):
            if form.mask >> bit & 1:
                assert shown[name][bit] == str(form.value >> bit & 1), (name, bit)
            elif shown[name][bit] == "-":
                assert not form.meaningful >> bit & 1, (name, bit)
            else:
                assert form.fields[shown[name][bit]].mask >> bit & 1, (name, bit)
        assert f"<b>{name}</b>" in text
    part = section(pages, "switch-sass-float", "FFMA")
    assert "What it does: a \\* b + c of float32, rounded once." in part
    assert "In the control word, whose lowest bit counts as 64: a.reuse 81" in part


def test_every_instruction_of_the_3ds_has_a_row(pages: Pages) -> None:
    text = pages["pica-shader-instructions"]
    names = {opcode.name for opcode in OPCODES.values()}
    assert {f"(instruction-3ds-{name.lower()})=" for name in names} <= set(text.splitlines())
    for opcode in OPCODES.values():
        shape = Drawing(next(one for one in drawings(text) if f"format {opcode.format.name}:" in one)).bits
        for field, (lo, width) in opcode.format.fields.items():
            assert all(field in shape[bit].split(" / ") for bit in range(lo, lo + width)), (opcode.name, field)
        assert f"<td><code>{opcode.name}</code>\n<td>{opcode.doc}" in text
    assert "<td>0x38 to 0x3f\n<td><code>MAD</code>" in text and "the wide source" in text
