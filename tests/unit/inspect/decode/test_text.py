"""The listing, JSON lines, and choosing of rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.decode import Decoded, decode, decode_file, decode_words, parse_listing
from pocketgpu.inspect.decode.select import parse_range

LIST = [
    2, 0x000F0040,  # FACECULLING_CONFIG
    0x00400080, 0x000F0082,  # TEXUNIT0_DIM
    1, 0x000F022E,
    1, 0x000F0040,
    0x11, 0x803F00C0, 0x22, 0x33, 0x44, 0,
    1, 0x000F022E,
    0xAABBCCDD, 0x001F02CC, 0x11223344, 0,
]  # fmt: skip


def decoded() -> Decoded:
    return decode_words(LIST, "pica", base=0x20000000)


def lines(found: Decoded, **more: object) -> list[str]:
    return list(found.lines(found.select(**more) if more else None))  # type: ignore[arg-type]


# The listing


def test_a_line_has_all_that_there_is_to_say() -> None:
    found = lines(decoded())
    assert found[1] == "== f0 list 0: 20 words at 0x20000000 =="
    text = "0x20000000    00000002 000f0040  * 0x040 FACECULLING_CONFIG  0x00000002 (was 0x00000000)  mode="
    assert found[2].startswith(text)
    assert found[2].endswith("   f0/d0")
    assert "width=64" in found[3] and "height=128" in found[3]
    assert "[draw]" in found[4]
    assert found[5] == "# f0/d0: set before the first draw: FACECULLING_CONFIG, TEXUNIT0_DIM, DRAWARRAYS"
    assert any(line.startswith("# f0/d1: changed since f0/d0: FACECULLING_CONFIG, TEXENV0_SOURCE") for line in found)
    assert found[-1].endswith("[upload]   f0")


def test_padding_stands_in_the_line_of_its_entry() -> None:
    assert any("00000044 00000000  * 0x0c3 TEXENV0_COLOR" in line for line in lines(decoded()))


def test_each_entry_of_a_list_begins_a_line() -> None:
    words = [1, 0x802F0233, 2, 3, 4, 0x802F0233, 5, 6]
    found = [line for line in decode_words(words, "pica").lines() if "0x233" in line]
    assert len(found) == 2 and found[1].startswith("+4            00000004 802f0233 ")


def test_a_line_for_each_word() -> None:
    found = [line for line in decoded().lines(single=True) if not line.startswith(("#", "=="))]
    assert len(found) == len(LIST)
    assert parse_listing("\n".join(decoded().lines(single=True)))[0].words.tolist() == LIST


def test_words_come_back() -> None:
    (listed,) = parse_listing("\n".join(lines(decoded())))
    assert listed.words.tolist() == LIST
    assert (listed.place, listed.kind, listed.name, listed.address) == ("f0", "list", "0", 0x20000000)


def test_listings_that_are_none() -> None:
    text = "\n".join(lines(decoded()))
    with pytest.raises(UsageError, match="has 18 of its 20 words") as error:
        parse_listing("\n".join(line for line in text.splitlines() if "TEXUNIT0" not in line or line[0] == "#"))
    assert error.value.location == "line 2"
    with pytest.raises(UsageError, match="before the first segment"):
        parse_listing("0x00000000  00000000 00000000  what")
    with pytest.raises(UsageError, match="not a line of a listing"):
        parse_listing("hello")


# Places and filters


def test_ranges() -> None:
    last = 1 << 30
    assert parse_range("f1/d17") == (1 << 32 | 17, 1 << 32 | 17)
    assert parse_range("f1/d3..d9") == (1 << 32 | 3, 1 << 32 | 9)
    assert parse_range("f1") == (1 << 32, 1 << 32 | last)
    assert parse_range("f0..f2") == (0, 2 << 32 | last)
    assert parse_range("f0/d5..f1/d2") == (5, 1 << 32 | 2)
    for text in ("f1/d3..d2", "d3", "f1/px1,2", "f1/e3", "", "f1..", "f2..f1"):
        with pytest.raises(UsageError):
            parse_range(text)


def test_places_choose_rows() -> None:
    found = decoded()
    assert found.select(["f0/d0"]).sum() == 6
    assert found.select(["f0/d0..d1"]).sum() == 16
    assert found.select(["f0"]).all() and not found.select(["f1"]).any()


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("TEXENV*", [0xC0, 0xC1, 0xC2, 0xC3]),
        ("texenv0_source", [0xC0]),
        ("GPUREG_TEXENV0_SOURCE", [0xC0]),
        ("0x0c?", [0xC0, 0xC1, 0xC2, 0xC3]),
        ("*.width", [0x82]),
        ("TEXUNIT0_DIM.width=64", [0x82]),
        ("TEXUNIT0_DIM.width=0x40", [0x82]),
        ("TEXUNIT0_DIM.width=63", []),
        ("FACECULLING_CONFIG.mode=1", [0x40]),
    ],
)
def test_filters_choose_registers(pattern: str, ids: list[int]) -> None:
    found = decoded()
    width = PICA["TEXUNIT0_DIM"]["width"].raw(0x00400080)
    assert found.rows[found.select(filters=[pattern.replace("64", str(width)).replace("0x40", hex(width))])][
        "id"
    ].tolist() == (ids)


def test_changed_rows() -> None:
    found = decoded()
    chosen = found.rows[found.select(changed=True)]
    assert chosen["id"].tolist() == [0x40, 0x82, 0x22E, 0x40, 0xC0, 0xC1, 0xC2, 0xC3]


def test_filters_that_are_none() -> None:
    with pytest.raises(UsageError, match="no register 'TEXENV0_SOURCES'") as error:
        decoded().select(filters=["TEXENV0_SOURCES"])
    assert "TEXENV0_SOURCE" in str(error.value.hint)
    with pytest.raises(UsageError, match="has no value 'sideways'"):
        decoded().select(filters=["FACECULLING_CONFIG.mode=sideways"])


def test_nothing_found() -> None:
    assert lines(decoded(), filters=["FOG_COLOR"])[-1] == "# no row matches"


# JSON


def test_json_lines() -> None:
    found = [json.loads(line) for line in decoded().json_lines()]
    assert found[0] == {
        "schema": "pocketgpu.decode", "version": 1, "source": "", "console": "3DS", "as": "pica", "frames": 1,
        "segments": 1, "words": 20,
    }  # fmt: skip
    first = found[1]
    assert first["register"] == {"id": "0x040", "name": "FACECULLING_CONFIG", "old": "0x00000000", "new": "0x00000002"}
    assert first["at"] == "f0/d0" and first["word"] == "0x00000002" and first["address"] == "0x20000000"
    assert first["what"] == "parameter" and first["changed"] is True and first["mask"] == "0xf"
    assert set(first["fields"]) == {"mode"}
    assert found[2]["what"] == "header" and found[2]["register"] == {"id": "0x040", "name": "FACECULLING_CONFIG"}
    assert found[5]["effects"] == ["draw"]
    assert found[14]["what"] == "padding" and "register" not in found[14]
    assert "fields" not in found[17] and found[17]["effects"] == ["upload"]


def test_json_of_the_switch(sample_path: Path) -> None:
    path = sample_path.with_name("sample_switch.mxcap.zip")
    if not path.is_file():
        pytest.skip("the sample is not built")
    whole = decode(path)
    found = [json.loads(line) for line in whole.json_lines()]
    assert len(found) == len(whole) + 1
    method = next(line for line in found if line.get("block") == "b197" and line["what"] == "parameter")
    assert set(method["register"]) == {"id", "name", "old", "new"} and "subchannel" in method
    assert {line["what"] for line in found[1:]} >= {"header", "parameter", "immediate", "entry"}


# Files


def test_files_of_words(tmp_path: Path) -> None:
    path = tmp_path / "dump.bin"
    words = b"".join(word.to_bytes(4, "little") for word in LIST)
    path.write_bytes(b"xyz" + words + b"!!")
    found = decode_file(path, "pica", base=0x1000, offset=3)
    assert found.rows["word"].tolist() == LIST and found.left == 2
    assert "# 2 bytes after the last whole word are left out" in lines(found)
    assert decode_file(path, "pica", offset=3, size=8).rows["word"].tolist() == LIST[:2]
    swapped = tmp_path / "swapped.bin"
    swapped.write_bytes(b"".join(word.to_bytes(4, "big") for word in LIST))
    assert decode_file(swapped, "pica", big_endian=True).rows["word"].tolist() == LIST
    with pytest.raises(UsageError, match="the file has 85 bytes"):
        decode_file(path, "pica", offset=86)
    with pytest.raises(CaptureError, match="cannot be read"):
        decode_file(tmp_path / "nothing.bin", "pica")
