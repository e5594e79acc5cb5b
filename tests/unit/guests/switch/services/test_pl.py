"""`pl:u` of the Switch, and the font that it has."""

from __future__ import annotations

import importlib.util
import struct
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.cmif_client import CmifClient, Idle, Out

from pocketgpu.errors import CaptureError
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.services.pl import SHARED_BYTES, TYPES, shared_font
from pocketgpu.maxwell.gm20b import GM20B

ROOT = Path(__file__).parents[5]
DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
VERSION = "Version 2.37".encode("utf-16-be")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_switch_font", ROOT / "tools" / "make_switch_font.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def client() -> CmifClient:
    return CmifClient(kernel=SwitchConsole(Idle(), GM20B(), MemoryFiles({})).kernel)


def test_a_program_finds_a_font_as_libnx_looks_for_it(client: CmifClient) -> None:
    service = client.service("pl:u")
    block = client.object(service.ask(4).copies[0])
    assert isinstance(block, MemoryBlock) and len(block.view) == 0x1100000
    for number in range(TYPES):
        type = struct.pack("<I", number)
        assert service.ask(0, type).result == 0 and service.ask(1, type).values("I") == (1,)
        (size,), (place,) = service.ask(2, type).values("I"), service.ask(3, type).values("I")
        assert bytes(block.view[place : place + size]) == shared_font()
    beyond = struct.pack("<I", TYPES)
    assert [service.ask(number, beyond).values("I") for number in (1, 2, 3)] == [(0,)] * 3


@pytest.mark.parametrize(("room", "count"), [(TYPES, TYPES), (20, TYPES), (2, 2), (0, 0)])
def test_fonts_in_order(client: CmifClient, room: int, count: int) -> None:
    reply = client.service("pl:u").ask(5, b"de".ljust(8, b"\0"), buffers=[Out(4 * room, "map")] * 3)
    assert reply.values("B3xI") == (1, count)
    types, places, sizes = (struct.unpack_from(f"<{count}I", one) for one in reply.outputs)
    assert types == tuple(range(count))
    assert set(places) <= {8} and set(sizes) <= {len(shared_font())}


def test_fonts_without_buffers(client: CmifClient) -> None:
    assert client.service("pl:s").ask(6, bytes(8), buffers=[Out(4, "map")]).values("B3xI") == (1, 0)


def test_the_font_is_whole(tool: ModuleType) -> None:
    data = shared_font()
    assert tool.checksum(data) == 0xB1B0AFBA
    font = tool.Font(data)
    known = font.characters()
    for text in ("Hello, world!", "äöüßéñçÅøŁž", "Ελλάς", "Привет", "½→✓€□"):
        assert all(font.glyph(known[ord(letter)]) for letter in text if letter != " "), text
    assert all(0 < number < font.glyph_count for number in known.values())
    for number in range(font.glyph_count):
        assert all(part < font.glyph_count for _, part in tool.components(font.glyph(number)))
    assert font.places[-1] == len(font.tables["glyf"])


@pytest.mark.skipif(
    not DEJAVU.exists() or VERSION not in DEJAVU.read_bytes(), reason="needs DejaVu Sans 2.37, as Debian 12 has it"
)
def test_the_font_is_made_again(tool: ModuleType, tmp_path: Path) -> None:
    original = tool.Font(DEJAVU.read_bytes())
    tool.main([str(DEJAVU), str(tmp_path / "made.ttf")])
    made = tool.Font((tmp_path / "made.ttf").read_bytes())
    assert (tmp_path / "made.ttf").read_bytes() == shared_font()
    old, new = original.characters(), made.characters()
    assert len(new) > 1500
    for code, number in new.items():
        assert made.width(number) == original.width(old[code])
        assert made.glyph(number)[:10] == original.glyph(old[code])[:10], hex(code)


def test_another_font(tmp_path: Path) -> None:
    other = tmp_path / "other.otf"
    other.write_bytes(b"OTTO" + bytes(range(200)))
    client = CmifClient(kernel=SwitchConsole(Idle(), GM20B(), MemoryFiles({}), shared_font(other)).kernel)
    service = client.service("pl:u")
    block = client.object(service.ask(4).copies[0])
    assert isinstance(block, MemoryBlock)
    assert service.ask(2, bytes(4)).values("I") == (204,) and bytes(block.view[8:212]) == other.read_bytes()


@pytest.mark.parametrize(("data", "message"), [
    (None, "cannot be read"), (b"\x7f\x18" * 40, "not a TrueType"), (b"OTTO" + bytes(SHARED_BYTES), "larger than"),
])  # fmt: skip
def test_files_that_are_no_font(tmp_path: Path, data: bytes | None, message: str) -> None:
    path = tmp_path / "font"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(CaptureError, match=message):
        shared_font(path)
