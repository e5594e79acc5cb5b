"""Words that hold addresses of main memory: all kinds are found, and a program may move them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support import probing

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble, gx
from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.capture.pgc import parse
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.consoles.n3ds.addresses import find
from pocketgpu.probe.files.answer import read_answer
from pocketgpu.probe.making import FOLDER
from pocketgpu.probe.model.observation import observe
from pocketgpu.probe.model.scene import Made, Watch

SIDE = 64


def drawing(base: int | None, indexed: bool) -> tuple[CaptureBuilder, int]:
    """A triangle, drawn to main memory from buffers whose offsets count from `base`."""
    made = CaptureBuilder()
    target = made.allocate(SIDE * SIDE * 4)
    corners = made.put(np.array([[-1, -1, -0.5], [3, -1, -0.5], [-1, 3, -0.5]], np.float32))
    colors = made.put(np.array([[1, 0.5, 0, 1]] * 3, np.float32))
    program = assemble(".out o0 position\n.out o1 color\nmov o0, v0\nmov o1, v1\nend\n")
    commands = CommandList().plain_state().render_target(target, SIDE, SIDE).shader(program)
    commands.attributes(Buffer(corners, [("f32", 3)]), Buffer(colors, [("f32", 4)]), base=base)
    commands.depth(None, write=False)
    if indexed:
        commands.draw_elements(3, made.put(np.array([0, 1, 2], np.uint16)))
    else:
        commands.draw_arrays(3)
    made.clear(target, SIDE, SIDE, 0x203040FF).submit(commands.end_drawing()).end_frame()
    return made, target


def contents(made: CaptureBuilder) -> Contents:
    return parse(made.to_pgc())


def kinds(made: CaptureBuilder) -> Counter[str]:
    found, _ = find(contents(made))
    return Counter(move.kind for move in found.moves)


def test_buffers_count_from_a_base() -> None:
    """If the base is in main memory it is moved, otherwise each offset is."""
    for indexed in (False, True):
        near, far = (kinds(drawing(base, indexed)[0]) for base in (None, VRAM.base))
        assert set(near) == {"u"} and near["u"] >= 5, "a list, two ends of a fill, a target, and the base"
        assert far == {"u": near["u"] - 1, "p": 3 if indexed else 2}


def test_faces_of_a_cube_texture() -> None:
    made, _ = drawing(None, False)
    commands = CommandList()
    texture = made.allocate(6 * 8 * 8 * 4)
    commands.write("TEXUNIT0_PARAM", type="cube").write("TEXUNIT0_ADDR", address=texture)
    for face in range(2, 7):
        commands.write_word(f"TEXUNIT0_ADDR{face}", (texture + 256 * (face - 1)) // 8 & (1 << 22) - 1)
    made.submit(commands.draw_arrays(0).end_drawing()).end_frame()
    assert kinds(made)["t"] == 5


def test_commands_and_framebuffers_have_virtual_addresses() -> None:
    made = CaptureBuilder()
    buffer = made.allocate(240 * 400 * 3)
    made.gx(gx.memory_fill((buffer, buffer + 1024, 7, 32)))
    made.gx(gx.request_dma(buffer, VRAM.base, 1024))
    made.swap("top", buffer, format="RGB8").end_frame()
    found = kinds(made)
    assert found["v"] == 2 + 1 + 2, "two ends of a fill, a source, both eyes of a framebuffer"


def test_an_address_that_the_gpu_wrote_is_refused() -> None:
    """A list that a transfer has copied over another one: no load of the capture has its words."""
    made, target = drawing(None, False)
    both = [CommandList().write("COLORBUFFER_LOC", address=target + n).end_drawing().finalize() for n in (0, 8)]
    lists = [one.tobytes() for one in both]
    source, place = (made.put(data) for data in lists)
    made.submit(CommandList().jump(place, len(lists[0])))
    find(contents(made.end_frame()))
    made.copy(source, place, len(lists[0]))
    made.submit(CommandList().jump(place, len(lists[0])))
    with pytest.raises(UsageError, match="GPU itself wrote"):
        find(contents(made.end_frame()))


@pytest.mark.parametrize(("base", "indexed"), [(None, False), (VRAM.base, False), (None, True), (VRAM.base, True)])
def test_a_moved_capture_leaves_the_same_behind(tmp_path: Path, base: int | None, indexed: bool) -> None:
    """The program has main memory at another place, and the answer is as if it had not."""
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    made, target = drawing(base, indexed)
    watch = Watch(memory=((target, SIDE * SIDE * 4),), pictures=False)
    sent = probe_console("3DS").prepare(contents(made), watch, most=1 << 20)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "one.pgc").write_bytes(sent.encode())
    probing.ran(tmp_path)
    answer = read_answer(probing.answer(tmp_path, "one").read_bytes())
    ours = observe(Made(made.to_pgc(), watch), {})
    assert answer.memory == ours.memory and answer.finished
    assert len({*answer.memory[watch.memory[0]]}) > 2, "something was drawn"
    assert int(answer.contents.about["probe.moved"], 16) != sent.main[0] if sent.main else False


def test_too_much_memory_is_refused() -> None:
    made = CaptureBuilder()
    made.allocate(5 << 20)
    made.fill(made.allocate(16), made.allocate(16), 1).end_frame()
    made.load(0x20000000, b"first")
    made.end_frame()
    with pytest.raises(UsageError, match="bytes of main memory"):
        probe_console("3DS").prepare(contents(made), Watch(), most=4 << 20)


def test_registers_that_a_probe_leaves_alone() -> None:
    """Timing of screens, with words and with bytes."""
    words = CaptureBuilder().write("PDC0_VTOTAL", 400).end_frame()
    with pytest.raises(UsageError, match="it writes PDC0_VTOTAL, which a probe leaves alone"):
        probe_console("3DS").prepare(contents(words), Watch(), most=1 << 20)
    single = CaptureBuilder().write_byte(EXTERNAL["PDC1_CONTROL"].address + 1, 5).end_frame()
    with pytest.raises(UsageError, match="it writes PDC1_CONTROL"):
        probe_console("3DS").prepare(contents(single), Watch(), most=1 << 20)
