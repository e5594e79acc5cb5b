"""The probe of the 3DS reads files that anybody may have written: what is wrong is refused, and the rest is run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support import probing
from support.probing import about_records as about

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.sections import Header, build, scan
from pocketgpu.capture.pgc import parse
from pocketgpu.probe.making import FOLDER, sent_of_scene
from pocketgpu.probe.scenes import SCENES

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

HEADER = Header("3DS", 16)
SCENE = "fill.tail_24"


def sent() -> bytes:
    return sent_of_scene(SCENES[SCENE]).encode()


def plain() -> bytes:
    """The stream of records of the sent file."""
    return scan(sent()).sections[0].plain


def with_checksums(records: bytes) -> bytes:
    return build(HEADER, [records], 1, "stored")


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path


def ends(card: Path) -> dict[str, str]:
    """How each answer ends, by name."""
    found = {}
    for path in sorted((card / FOLDER).glob("*.answer.pgc")):
        found[path.name.removesuffix(".answer.pgc")] = parse(path.read_bytes()).about["probe.end"]
    return found


def test_cut_and_changed_files_are_refused(card: Path) -> None:
    """Every byte belongs to a checksum."""
    whole, chance = sent(), random.Random(1)
    (card / FOLDER / "whole.pgc").write_bytes(whole)
    for number in range(40):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (card / FOLDER / f"changed{number}.pgc").write_bytes(data)
        (card / FOLDER / f"cut{number}.pgc").write_bytes(whole[: chance.randrange(1, len(whole))])
    probing.ran(card)
    found = ends(card)
    assert found.pop("whole") == "finished"
    assert len(found) == 80 and all(end.startswith("refused: ") for end in found.values()), found


def test_files_with_wrong_numbers_are_refused_or_run(card: Path) -> None:
    """Their checksums are right. Whatever they say, the program goes on with the next file."""
    records, chance = plain(), random.Random(2)
    numbers = [b"\xff", b"\xff\xff\xff\xff", bytes(4), b"\x80" * 11, bytes([1]), b"\x7f", b"9999999999", b"0 0, "]
    for number in range(60):
        data = bytearray(records)
        for _ in range(chance.choice((1, 1, 3))):
            at = chance.randrange(len(data))
            new = chance.choice([*numbers, chance.randbytes(chance.choice((1, 2, 8)))])
            data[at : at + chance.choice((len(new), len(new), 0, 4))] = new
        (card / FOLDER / f"damaged{number}.pgc").write_bytes(with_checksums(bytes(data)))
    (card / FOLDER / "whole.pgc").write_bytes(sent())
    probing.ran(card)
    found = ends(card)
    assert found.pop("whole") == "finished" and len(found) == 60
    refused = [end for end in found.values() if end.startswith("refused: ")]
    assert len(refused) > 15 and len({*refused}) > 4, sorted({*found.values()})
    assert {*found.values()} - {*refused} <= {"finished"}
    assert (card / FOLDER / "running.txt").read_bytes() == b""


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


PROBE = about(probe="1")
MAIN = about(probe_main="20000000 1000")
LOAD = bytes([F.LOAD]) + words(0x20000000) + bytes([1, 0, 4]) + b"abcd"
WRONG = {
    "version": (about(probe="2"), "a version of the probe's files"),
    "half page": (PROBE + about(probe_main="20000000 1001"), "no range of whole pages"),
    "far too large": (PROBE + about(probe_main="20000000 40000000"), "more main memory than there is"),
    "list": (PROBE + about(probe_memory="18000000"), "no list of ranges"),
    "letters": (PROBE + about(probe_memory="xyz"), "no list of ranges"),
    "foreign": (PROBE + MAIN + about(probe_memory="20001000 4"), "memory to read that is not its own"),
    "beyond": (PROBE + about(probe_memory="185FFFFF 2"), "memory to read that is not its own"),
    "video": (PROBE + about(probe_main="18000000 100000"), "probe.main is not in main memory"),
    "far": (PROBE + about(probe_main="2FFFF000 2000"), "probe.main is not in main memory"),
    "twice": (PROBE + about(probe_memory="18000000 100, 180000FF 1"), "memory to read that is named twice"),
    "many": (PROBE + about(probe_memory=" ".join(["18000000 1"] * 11)) * 6, "more than 64 ranges"),
    "register": (PROBE + about(probe_register="10400700"), "a register that cannot be read"),
    "word": (PROBE + MAIN + about(probe_relocate="FFFFp"), "a word to move is outside of the file"),
    "kind": (PROBE + MAIN + about(probe_relocate="0x") + LOAD, "an unknown kind"),
    "no kind": (PROBE + MAIN + about(probe_relocate="0") + LOAD, "an unknown kind"),
    "load": (PROBE + LOAD, "a load outside of its memory"),
    "two blocks": (PROBE + MAIN + LOAD.replace(bytes([1, 0, 4]), bytes([2, 0, 4])), "not one new block"),
    "old block": (PROBE + MAIN + LOAD.replace(bytes([1, 0, 4]), bytes([1, 1, 4])), "not one new block"),
    "cut": (PROBE + MAIN + LOAD[:-1], "a record is cut"),
    "timing": (PROBE + bytes([F.WRITES, 1]) + words(0x10400400, 5), "a register that is left alone"),
    "backlight": (PROBE + bytes([F.WRITES, 1]) + words(0x10202240, 255), "a register that is left alone"),
    "byte": (PROBE + bytes([F.WRITE8]) + words(0x10400401) + b"\1", "a register that is left alone"),
    "command": (PROBE + bytes([F.GX]) + words(*[9] * 8), "an unknown GX command"),
    "screen": (PROBE + bytes([F.SWAP, 2]) + words(*[0] * 7) + bytes([0]), "a screen that is not there"),
    "state": (PROBE + bytes([F.STATE, 0, 0, 0, 0, 0]), "a record that a sent file must not have"),
    "submission": (PROBE + bytes([F.SUBMIT, 0, 0]), "a record that a sent file must not have"),
}


def test_what_is_wrong_is_told(card: Path) -> None:
    for name, (records, _) in WRONG.items():
        (card / FOLDER / f"{name.replace(' ', '-')}.pgc").write_bytes(with_checksums(records))
    probing.ran(card)
    found = ends(card)
    assert len(found) == len(WRONG)
    for name, (_, reason) in WRONG.items():
        end = found[name.replace(" ", "-")]
        assert end.startswith("refused: ") and reason in end, (name, end)


def test_a_file_for_another_console_packed_and_empty_files(card: Path) -> None:
    (card / FOLDER / "other.pgc").write_bytes(build(Header("Switch", 16), [PROBE], 1, "stored"))
    (card / FOLDER / "packed.pgc").write_bytes(build(HEADER, [plain()], 1, "zstd"))
    (card / FOLDER / "text.pgc").write_bytes(b"text")
    (card / FOLDER / "empty.pgc").write_bytes(b"")
    said = probing.ran(card)
    assert ends(card) == {
        "packed": "refused: a section is packed", "text": "refused: not a .pgc file",
        "empty": "refused: not a .pgc file",
    }  # fmt: skip
    assert "empty: refused: not a .pgc file" in said and "other: skipped, as it is for another console" in said


def test_a_file_that_the_console_hung_in_is_left_out(card: Path) -> None:
    """The console stopped in one; at the next start that one has no answer, and what was answered is not run again."""
    for name in ("first", "second", "third"):
        (card / FOLDER / f"{name}.pgc").write_bytes(sent())
    (card / FOLDER / "running.txt").write_text("second.pgc")
    said = probing.ran(card)
    assert ends(card) == {"first": "finished", "second": "no answer", "third": "finished"}
    assert "second: no answer, as the console hung in it" in said
    before = (card / FOLDER / "first.answer.pgc").read_bytes()
    said = probing.ran(card)
    assert said.count("answered before") == 3
    (card / FOLDER / "first.pgc").write_bytes(sent_of_scene(SCENES["transfer.small"]).encode())
    probing.ran(card)
    assert (card / FOLDER / "first.answer.pgc").read_bytes() != before, "it is asked something else now"
    assert "first: finished" in (card / FOLDER / "log.txt").read_text()
