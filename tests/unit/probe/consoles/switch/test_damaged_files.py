"""The probe of the Switch reads files that anybody may have written: what is wrong is refused, and no more happens."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

import pytest
from support.probing import about_records as about

import pocketgpu
from pocketgpu import capture
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.capture.formats.pgc.sections import Header, build, scan
from pocketgpu.capture.pgc import parse
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.making import FOLDER
from pocketgpu.probe.model.scene import Watch

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAM = Path(pocketgpu.__file__).parent / "data" / "probe" / "probe.nro"
STEP = 0x10000
HEADER = Header("Switch", 16)


def recording() -> Contents:
    """One with all that a sent file may have: two channels, syncpoints, stores, mappings that end."""
    made = MaxwellCaptureBuilder(step=STEP)
    target = Surface(made.allocate(size_of(64, 16), kind="generic_16bx2"), 64, 16)
    gone = made.put(b"gone" * 64)
    first = PushBuffer().bind("3D").plain_state().render_target(0, target).clear((0, 0.5, 0, 1))
    made.submit(first.syncpoint_increment(8))
    made.unmap(gone)
    waits = PushBuffer().syncpoint_wait(8, 1).bind("3D").plain_state().render_target(0, target)
    made.submit(waits.clear((1, 0.5, 0, 1)), channel=1)
    made.present(target)
    return contents_of(capture.of_bytes(made.tobytes()).trace)


def sent() -> bytes:
    return probe_console("Switch").prepare(recording(), Watch(), most=1 << 24).encode()


def ended(card: Path) -> pocketgpu.App:
    """The probe has run all files of the card."""
    with pocketgpu.run(PROGRAM, sd=card, writable=True) as app:
        app.frames(20_000)
    assert app.end is not None and app.end.why == "exit", app.end
    return app


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path


def ends(card: Path) -> dict[str, str]:
    """How each answer ends, by name."""
    answers = sorted((card / FOLDER).glob("*.answer.pgc"))
    return {path.name.partition(".")[0]: parse(path.read_bytes()).about["probe.end"] for path in answers}


def test_cut_and_changed_files_are_refused(card: Path) -> None:
    """Every byte belongs to a checksum."""
    whole, chance = sent(), random.Random(1)
    (card / FOLDER / "whole.pgc").write_bytes(whole)
    for number in range(40):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (card / FOLDER / f"changed{number}.pgc").write_bytes(data)
        (card / FOLDER / f"cut{number}.pgc").write_bytes(whole[: chance.randrange(len(whole))])
    ended(card)
    found = ends(card)
    assert found.pop("whole") == "finished"
    assert len(found) == 80 and all(end.startswith("refused: ") for end in found.values()), found


def with_checksums(plain: bytes) -> bytes:
    return build(HEADER, [plain], 1, "stored")


def test_files_with_wrong_numbers_are_refused_or_run(card: Path) -> None:
    """Their checksums are right. Whatever they say, the program goes on with the next file."""
    plain, chance = scan(sent()).sections[0].plain, random.Random(2)
    numbers = [b"\xff", b"\xff\xff\xff\xff", bytes(4), b"\x80" * 11, bytes([1]), b"\x7f", b"9999999999", b"0 0, "]
    for number in range(160):
        data = bytearray(plain)
        for _ in range(chance.choice((1, 1, 1, 3))):
            at = chance.randrange(len(data))
            new = chance.choice([*numbers, bytes(chance.randrange(256) for _ in range(chance.choice((1, 2, 8))))])
            data[at : at + chance.choice((len(new), len(new), 0, 4))] = new
        (card / FOLDER / f"damaged{number}.pgc").write_bytes(with_checksums(bytes(data)))
    (card / FOLDER / "whole.pgc").write_bytes(sent())
    app = ended(card)
    found = ends(card)
    assert found.pop("whole") == "finished" and len(found) == 160
    refused = [end for end in found.values() if end.startswith("refused: ")]
    assert len(refused) > 60 and len({*refused}) > 8, sorted({*found.values()})
    assert set(found.values()) - {*refused} <= {"finished"}
    assert "the probe: the end" in app.console.text
    assert (card / FOLDER / "running.txt").read_bytes() == b""


PROBE = about(probe="1")
SPACE = about(probe_space="500000000 20000 10000")
MAPPED = bytes([F.MAP, 1]) + b"\x80\x80\x80\x80\x50" + b"\x80\x80\x04" + bytes([1, 0])
"""Handle 1 at 0x500000000, 0x10000 bytes."""
LOW = MAPPED.replace(b"\x80\x80\x80\x80\x50", b"\x80\x80\x04")
"""The same at 0x10000."""


WRONG = [
    (b"", "no file for a probe"),
    (about(probe="2"), "no file for a probe"),
    (PROBE + MAPPED, "a mapping is outside of the file's addresses: 500000000"),
    (PROBE + SPACE + MAPPED + MAPPED, "two mappings have the same number: 1"),
    (PROBE + SPACE + bytes([F.UNMAP, 7]), "a mapping ends that did not begin: 7"),
    (PROBE + about(probe_space="500000000 20000 8000"), "no whole pages"),
    (PROBE + about(probe_space="500000000 20000"), "too few numbers"),
    (PROBE + about(probe_memory="FFFFFFFFFF 2"), "leaves the address space"),
    (PROBE + SPACE + about(probe_memory="500000000 4"), "memory is to be read that is not mapped: 500000000"),
    (PROBE + SPACE + about(probe_memory="50000FFFE 4") + MAPPED, "to be read that is not mapped: 500010000"),
    (PROBE + about(probe_syncpoint="8"), "a syncpoint has no value"),
    (PROBE + about(probe_syncpoint=", ".join(["8 0"] * 9)), "too many syncpoints"),
    (PROBE + about(probe_relocate="0n0"), "no known syncpoint"),
    (PROBE + about(probe_relocate="?150n0"), "the list of words has other letters"),
    (PROBE + about(probe_memory="?0 1"), "a list of ranges has other letters"),
    (PROBE + SPACE + about(probe_memory="500000000 4 x"), "a list of ranges has other letters"),
    (PROBE + about(probe_syncpoint="8 0; 9 0"), "the list of syncpoints has other letters"),
    (PROBE + about(probe_syncpoint="8 0", probe_relocate="0n0"), "a word lies outside of the file: 0"),
    (PROBE + SPACE + about(probe_syncpoint="8 0", probe_relocate="0x0") + MAPPED, "a word is of an unknown kind"),
    (PROBE + SPACE + MAPPED + bytes([F.STORE, 2, 1, 0, 0, 1, 0, 1, 5]), "other numbers than it may have"),
    (PROBE + SPACE + MAPPED + bytes([F.STORE, 1, 2, 0, 0, 1, 0, 1, 5]), "a store is outside of memory: 2"),
    (PROBE + SPACE + MAPPED + bytes([F.STORE, 0, 0, 0, 0, 1, 0, 1, 5]), "a store is where nothing is mapped: 0"),
    (PROBE + SPACE + MAPPED + bytes([F.STORE, 1, 1, 0, 0, 2, 0, 1, 5, 1]), "other numbers than it may have"),
    (PROBE + bytes([F.SUBMIT, 0, 3]) + bytes(8), "other numbers than it may have"),
    (PROBE + bytes([F.SUBMIT, 0, 0x81, 8]) + bytes(8 * 0x401), "a submission has too many entries: 401"),
    (PROBE + bytes([F.STATE, 64, 0, 0, 0, 0]), "state of channels cannot be set"),
    (PROBE + bytes([F.LOAD]), "a record that a Switch does not have"),
    (PROBE + SPACE + MAPPED.replace(b"\x80\x80\x04", b"\x80\x80\x01"), "finished"),
    (PROBE + about(probe_space="10000 10000 1000") + LOW, "the system refused the addresses of the file with 4"),
]
"""Records of a file, and what the program says of it."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """How the answers to all these files end: the program runs the files of a card one after the other."""
    card = tmp_path_factory.mktemp("wrong")
    (card / FOLDER).mkdir()
    for number, (records, _) in enumerate(WRONG):
        (card / FOLDER / f"wrong{number}.pgc").write_bytes(with_checksums(records + bytes([F.COVERAGE, 0])))
    ended(card)
    return ends(card)


@pytest.mark.parametrize(("number", "reason"), [(n, reason) for n, (_, reason) in enumerate(WRONG)])
def test_what_is_wrong_is_told(told: dict[str, str], number: int, reason: str) -> None:
    assert reason in told[f"wrong{number}"]


def test_words_of_syncpoints_may_be_anywhere(card: Path) -> None:
    """Also where they change records that have been checked."""
    one = scan(sent()).sections[0].plain
    start = one.index(bytes([F.SYNCPOINT]))
    for at in range(60):
        letter = "nmwr"[at % 4]
        words = about(probe="1", probe_space="500000000 200000 10000", probe_memory="500000000 1000")
        words += about(probe_syncpoint="8 FFFFFF37", probe_relocate=f"{at:X}{letter}0") + bytes([F.COVERAGE, 0])
        (card / FOLDER / f"at{at}.pgc").write_bytes(with_checksums(words + one[start:]))
    ended(card)
    found = {*ends(card).values()}
    assert "finished" in found and any("a mapping has changed" in end for end in found), found
    assert len(ends(card)) == 60


def test_a_file_for_another_console_and_packed_files(card: Path) -> None:
    plain = scan(sent()).sections[0].plain
    (card / FOLDER / "other.pgc").write_bytes(build(Header("3DS", 16), [plain], 1, "stored"))
    (card / FOLDER / "packed.pgc").write_bytes(build(HEADER, [plain], 1, "zstd"))
    (card / FOLDER / "empty.pgc").write_bytes(b"")
    large = PROBE + about(probe_space="500000000 40000000 10000") + huge()
    (card / FOLDER / "large.pgc").write_bytes(with_checksums(large))
    app = ended(card)
    assert "other: skipped, as it is for another console" in app.console.text
    assert ends(card) == {
        "packed": "refused: a section is packed",
        "empty": "refused: not a .pgc file", "large": "refused: it needs more memory than there is",
    }  # fmt: skip


def test_a_file_that_is_too_large_is_answered(card: Path) -> None:
    store = bytes([F.STORE, 0, 0, 0, 0, 1, 0]) + b"\x80\x80\x40" + bytes(1 << 20)
    (card / FOLDER / "one.pgc").write_bytes(with_checksums(PROBE + store * 65))
    assert "one: refused: it is too large" in ended(card).console.text
    assert ends(card) == {"one": "refused: it is too large"}


def huge() -> bytes:
    """A mapping of a GiB."""
    return bytes([F.MAP, 1]) + b"\x80\x80\x80\x80\x50" + b"\x80\x80\x80\x80\x04" + bytes([1, 0, F.COVERAGE, 0])


def test_checksums_of_these_tests_are_those_of_the_format() -> None:
    data = with_checksums(PROBE)
    size = len(PROBE)
    assert struct.unpack_from("<I", data, F.HEADER_SIZE + F.SECTION_HEAD + size)[0] == zlib.crc32(
        data[F.HEADER_SIZE : F.HEADER_SIZE + F.SECTION_HEAD + size]
    )
