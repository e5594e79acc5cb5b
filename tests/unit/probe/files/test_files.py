"""Files of a probe: lists in ABOUT records, sent files, answers."""

from __future__ import annotations

import pytest

from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, Load
from pocketgpu.capture.formats.pgc.encoder import encode, encode_plain
from pocketgpu.capture.formats.pgc.numbers import LOAD
from pocketgpu.capture.pgc import parse
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.probe.files import keys
from pocketgpu.probe.files.answer import read_answer
from pocketgpu.probe.files.sent import Move, Sent, watch_of
from pocketgpu.probe.model.scene import Watch


def test_lists() -> None:
    rows = [(0x18000000, 0x5DC00), (0x20000400, 64)]
    assert keys.listed(rows) == "18000000 5DC00, 20000400 40"
    assert keys.pairs(keys.listed(rows)) == rows
    assert keys.pairs(" 1,2 ,, 3  4") == [(1, 2), (3, 4)]
    assert keys.counts("PSC0 1, PPF 12") == {"PSC0": 1, "PPF": 12}
    for text in ("1 2 3", "x", "1 -2", "12345678901234567 1"):
        with pytest.raises(ValueError, match=r"number|odd"):
            keys.pairs(text)
    for text in ("PSC0", "PSC0 x", "1 2 3", "PSC0 9999999999"):
        with pytest.raises(ValueError, match="names and counts"):
            keys.counts(text)


def capture(size: int = 300) -> Contents:
    data = bytes(range(256)) * 2
    loads = tuple(Load(0x20000000 + 0x1000 * n, (data[:size],)) for n in range(3))
    return Contents("3DS", frames=[FrameContents(loads[:2])], tail=loads[2:])


def test_plain_files_have_each_block_whole() -> None:
    """Equal data is not shared, and positions lead to the data."""
    plain = encode_plain(capture())
    assert parse(plain.data).frames[0].events == capture().frames[0].events
    assert plain.data.count(bytes(range(256))) == 3 and encode(capture(), "stored").count(bytes(range(256))) == 1
    begin = plain.data.index(bytes([LOAD]) + (0x20000000).to_bytes(4, "little"))
    assert plain.places[0] == 0
    for number, place in enumerate(plain.places):
        address = plain.data[begin + place + 1 : begin + place + 5]
        assert int.from_bytes(address, "little") == 0x20000000 + 0x1000 * number


def test_a_sent_file_says_what_is_read_back_and_which_words_move() -> None:
    watch = Watch(((0x18000000, 16), (0x20000000, 32)), (0x10400018,), True)
    sent = Sent(capture(), watch, "test.order", (0x20000000, 0x3000), [Move(0, 20, "u"), Move(2, 24, "p")])
    data = sent.encode()
    about = parse(data).about
    assert watch_of(about) == watch
    assert about[keys.CHOICE] == "test.order" and about[keys.MAIN] == "20000000 3000"
    places = encode_plain(sent.contents).places
    assert about[keys.RELOCATE] == f"{places[0] + 20:X}u, {places[2] + 24:X}p"
    assert places == encode_plain(parse(data)).places, "positions do not depend on the ABOUT records"
    with pytest.raises(UsageError, match="65 ranges of memory"):
        Sent(capture(), Watch(tuple((16 * n, 4) for n in range(65)))).encode()


def answer(**about: str) -> bytes:
    texts = {f"probe.{name}": text for name, text in about.items()}
    return encode(Contents("3DS", about=texts, frames=[FrameContents((Load(0x18000000, (b"abc",)),))]))


def test_an_answer_is_read() -> None:
    texts = {"register": "10400018 7", "interrupts": "PSC0 2", "console": "x" * 999}
    found = read_answer(answer(answer="1", choice="test.order", end="finished", **texts))
    assert found.choice == "test.order" and found.finished and len(found.console) == 400
    assert found.memory == {(0x18000000, 3): b"abc"}
    assert found.registers == {0x10400018: 7} and found.interrupts == {"PSC0": 2}


def test_texts_of_an_answer_are_printable() -> None:
    """They come from strangers, and are shown in terminals."""
    texts = {"end": "refused: \x1b]0;owned\x07", "console": "3DS\nfrom: another", "hung": "\x9b1m"}
    found = read_answer(answer(answer="1", **texts))
    assert all(text.isprintable() for text in (found.end, found.console, found.hung))
    assert found.end.startswith("refused: ") and "owned" in found.end


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (answer(), "no answer of a probe"),
        (answer(answer="2"), "no answer of a probe"),
        (answer(answer="1", register="1"), "damaged list"),
        (answer(answer="1", register="g h"), "damaged list"),
        (answer(answer="1", interrupts="PSC0 many"), "damaged list"),
        (answer(answer="1")[:40], ""),
        (b"", ""),
    ],
)
def test_damaged_answers_are_errors(data: bytes, message: str) -> None:
    with pytest.raises(CaptureError) as caught:
        read_answer(data, "one.answer.pgc")
    assert message in caught.value.message and caught.value.file == "one.answer.pgc"
