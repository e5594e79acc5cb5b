"""Observers: what a GM20B tells while it works, in which order, and what it costs those who are not told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.channels import BUFFER, DATA, Sender, immd, inc, load_macro, non_inc
from support.switch_scene import Scene

from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import A140, B0B5, B197, TWOD
from pocketgpu.maxwell.display.present import Surface
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer, Order, RunGrid, Segment, TextureRead, Undrawn
from pocketgpu.maxwell.memory.places import Offsets, Places
from pocketgpu.maxwell.sass.launch.launcher import Result

INLINE, COPY, TWO_D = 2, 4, 3
"""Subchannels that these classes are bound to."""


class Told(Observer):
    """Notes the names of all that it is told, with what tests look at."""

    wants_draws = wants_pages = wants_shapes = wants_inline = True

    def __init__(self) -> None:
        self.names: list[str] = []
        self.found: dict[str, list[Any]] = {}

    def note(self, name: str, *what: Any) -> None:
        self.names.append(name)
        self.found.setdefault(name, []).append(what)

    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        self.note("submitted", number, len(entries))

    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        self.note("segments_read", number, segments)

    def inline_read(self, channel: Channel, words: Offsets) -> None:
        self.note("inline_read", words.tolist())

    def stopped(self, channel: Channel) -> None:
        self.note("stopped")

    def draw_recorded(self, draw: Draw) -> None:
        self.note("draw_recorded", draw)

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        self.note("draw", draw)
        run()
        self.note("drawn", draw)

    def shapes_ready(self, plan: Any) -> None:
        self.note("shapes_ready", plan)

    def launch_recorded(self, launch: Launch) -> None:
        self.note("launch_recorded", launch)

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        self.note("launch", launch)
        return run()

    def texture_read(self, found: TextureRead) -> None:
        self.note("texture_read", found)

    def uploaded(self, target: Places, words: Offsets | None, padded: int) -> None:
        self.note("uploaded", target, None if words is None else words.tolist(), padded)

    def copied(self, engine: Any, target: Places, source: Places) -> None:
        self.note("copied", engine.class_id, target, source)

    def converted(self, engine: Any, target: Places, source: Places, layout: Any) -> None:
        self.note("converted", engine.class_id, target, source, layout)

    def filled(self, target: Places) -> None:
        self.note("filled", target)

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        self.note("memory_written", pages.tolist())

    def presented(self, gpu_va: int, surface: Surface, picture: Any) -> None:
        self.note("presented", gpu_va)


def replayed(scene: Scene, *observers: Observer, tier: str = "") -> GM20B:
    """A machine that ran a scene, looked at by observers."""
    log: Any = scene.capture().trace
    machine = GM20B()
    if tier:
        machine.drawing.tier = tier
    for one in observers:
        machine.observe(one)
    SwitchDriver(log, machine).play_rest()
    return machine


def contents(machine: GM20B) -> bytes:
    return b"".join(machine.memory.arena[b.offset : b.offset + b.size].tobytes() for b in machine.memory.backings)


def test_what_a_scene_tells() -> None:
    told = Told()
    machine = replayed(Scene(), told)
    names = [name for name in told.names if name != "stopped"]
    assert names[:2] == ["submitted", "segments_read"]
    first = names.index("draw_recorded")
    assert "memory_written" in names[:first], "the clear"
    assert names[first : first + 6] == [
        "draw_recorded", "draw", "shapes_ready", "texture_read", "memory_written", "drawn"
    ]  # fmt: skip
    assert names[first + 6 :].count("drawn") == 1 and "texture_read" not in names[first + 6 :], "one draw asked already"
    assert names[-3:] == ["launch_recorded", "launch", "memory_written"]
    (found,) = told.found["texture_read"][0]
    assert (found.texture.width, found.texture.height) == (16, 16)
    assert [size for _, size in found.entries] == [32, 32] and found.texels[1] >= 16 * 16 * 4
    assert told.machine is machine
    ((number, segments),) = told.found["segments_read"]
    assert number == 0 and [one.number for one in segments] == list(range(len(segments)))
    assert all(sum(count for _, count in one.pieces) == one.entry >> 42 & 0x1FFFFF for one in segments)


def test_who_looks_on_changes_nothing() -> None:
    scene = Scene(frames=3, extra=2, indices=(2, 1, 0))
    assert contents(replayed(scene)) == contents(replayed(scene, Told(), Told()))


def test_nobody_is_told_after_the_end() -> None:
    sender, told = Sender(), Told()
    with sender.gpu.observed(told) as given:
        assert given is told and sender.gpu.observers == (told,) and sender.gpu.single_draws
        sender.send(immd(0x40, 1))
    names = list(told.names)
    assert "submitted" in names and "stopped" in names
    sender.send(immd(0x40, 1))
    sender.gpu.dismiss(told)
    assert told.names == names and sender.gpu.observers == () and not sender.gpu.single_draws


def test_quick_draws_are_left_to_who_does_not_want_draws() -> None:
    """A machine with an observer that does not ask for draws makes them quickly; then all are reported."""
    scene = Scene(frames=2, extra=6)
    quiet, told = Observer(), Told()
    machine = replayed(scene, quiet, tier="specialised")  # it waits for its code, or no draw would be quick in time
    assert machine.drawing.quick.on and machine.drawing.quick.made > 0
    with machine.observed(told):
        assert not machine.drawing.quick.on
    assert machine.drawing.quick.on
    machine = replayed(scene, quiet, told)
    assert machine.drawing.quick.made == 0 and told.names.count("draw_recorded") == 16


def test_nothing_is_drawn_unless_it_is_let() -> None:
    machine, whole = replayed(Scene(), Undrawn()), replayed(Scene())
    assert machine.stats.draws == whole.stats.draws == 2 and not machine.has_drawn
    assert contents(machine) != contents(whole)
    assert np.array_equal(machine.registers(0xB197), whole.registers(0xB197))


def test_the_first_observer_has_the_first_word() -> None:
    order: list[str] = []

    class Named(Observer):
        wants_draws = True

        def __init__(self, name: str) -> None:
            self.name = name

        def draw(self, draw: Draw, run: Callable[[], None]) -> None:
            order.append(self.name)
            run()
            order.append(self.name.upper())

    replayed(Scene(), Named("a"), Named("b"))
    assert order == ["a", "b", "B", "A"] * 2


@pytest.mark.parametrize("nested", [False, True])
def test_a_grid_in_another_order(nested: bool) -> None:
    """Parts of a grid, and a grid backwards, leave what it leaves; who is asked later goes along."""
    steps: list[int] = []

    class Parts(Observer):
        def launch(self, launch: Launch, run: RunGrid) -> Result:
            before = self.machine.memory.snapshot()
            run(Order(backwards=True, silent=True))
            assert self.machine.memory.changed_since(before)
            self.machine.memory.restore(before)
            results = [run(Order(1, 3)), run(Order(0, 1)), run(Order(3))]
            steps.extend(one.steps for one in results)
            return results[0]

    told = Told()
    scene = Scene()
    machine = replayed(scene, Parts(), *([told] if nested else []))
    assert contents(machine) == contents(replayed(scene))
    assert steps == [steps[1] * 2, steps[1], steps[1]]
    assert told.names.count("launch") == (4 if nested else 0)


def test_what_is_silent_is_no_event() -> None:
    events: list[int] = []

    class Silent(Observer):
        def launch(self, launch: Launch, run: RunGrid) -> Result:
            memory = self.machine.memory
            buffer = launch.constants[0]
            assert buffer is not None
            found = memory.mapping_at(buffer.address)
            assert found is not None
            memory.unmap(found)  # nothing says any more where its output goes
            for order in (Order(silent=True), Order()):
                result = run(order)
                events.append(len(list(self.machine.events)))
            return result

    replayed(Scene(), Silent())
    assert events[0] == 0 and events[1] > 0


# -- inline data ------------------------------------------------------------------------------------------------------
def upload(size: int, *words: int) -> list[list[int]]:
    """Packets that upload words to DATA, `size` bytes in one line."""
    set_up = inc(A140["LINE_LENGTH_IN"].word, size, 1, DATA >> 32, DATA & 0xFFFFFFFF, subchannel=INLINE)
    launch = inc(A140["LAUNCH_DMA"].word, 0x11, subchannel=INLINE)
    return [set_up, launch, non_inc(A140["LOAD_INLINE_DATA"].word, *words, subchannel=INLINE)]


def place(sender: Sender, word: int) -> int:
    """Arena offset of a word of the pushbuffers."""
    found = sender.gpu.memory.offset_of(BUFFER + 4 * word, 4)
    assert found is not None
    return found


def test_where_inline_data_stood() -> None:
    sender, told = Sender(), Told()
    sender.gpu.observe(told)
    sender.send(*upload(10, 0x11111111, 0x22222222, 0x33333333))
    data = [place(sender, 5 + 2 + 1 + n) for n in range(3)]
    assert told.found["inline_read"] == [(data,)]
    ((target, words, padded),) = told.found["uploaded"]
    assert words == data and padded == 12 and target.reach == (DATA, DATA + 10)
    assert told.names.index("inline_read") < told.names.index("uploaded")
    (offsets,) = target.offsets(sender.gpu.memory)
    assert offsets.tolist() == [[sender.gpu.memory.offset_of(DATA, 1) + n for n in range(10)]]  # type: ignore[operator]


def test_inline_data_of_several_submissions() -> None:
    """What has come so far is told before other words are read; the upload knows all of it."""
    sender, told = Sender(), Told()
    sender.gpu.observe(told)
    first, launch, _ = upload(8, 1, 2)
    sender.send(first, launch, non_inc(A140["LOAD_INLINE_DATA"].word, 1, subchannel=INLINE))
    assert told.found["inline_read"] == [([place(sender, 8)],)] and "uploaded" not in told.found
    sender.send(non_inc(A140["LOAD_INLINE_DATA"].word, 2, subchannel=INLINE))
    assert told.found["uploaded"][0][1] == [place(sender, 8), place(sender, 10)]
    assert sender.data() == 1 and sender.data(4) == 2


def test_inline_data_without_a_place() -> None:
    """Words in headers stand nowhere by themselves; and who comes late does not know the words before."""
    sender, told = Sender(), Told()
    first, launch, _ = upload(4, 1)
    with sender.gpu.observed(told):
        sender.send(first, launch, immd(A140["LOAD_INLINE_DATA"].word, 7, subchannel=INLINE))
        assert told.found["uploaded"][0][1] is None and told.found["inline_read"] == [([],)]
    assert sender.data() == 7
    first, launch, _ = upload(8, 1, 2)
    sender.send(first, launch, non_inc(A140["LOAD_INLINE_DATA"].word, 3, subchannel=INLINE))
    with sender.gpu.observed(told):
        sender.send(non_inc(A140["LOAD_INLINE_DATA"].word, 4, subchannel=INLINE))
    assert sender.data(4) == 4


def test_inline_data_of_a_macro() -> None:
    from pocketgpu.maxwell.mme.assembler import assemble

    sender, told = Sender(), Told()
    sender.gpu.observe(told)
    sender.send(load_macro(0, assemble(f"exit maddr 0x{B197['LOAD_INLINE_DATA'].word | 1 << 12:x}\nsend r1")))
    set_up = inc(B197["LINE_LENGTH_IN"].word, 4, 1, DATA >> 32, DATA & 0xFFFFFFFF)
    sender.send(set_up, inc(B197["LAUNCH_DMA"].word, 0x11), inc(0xE00, 0x1234))
    assert sender.data() == 0x1234 and told.found["uploaded"][0][1] is None


# -- copies -----------------------------------------------------------------------------------------------------------
def test_copies_and_fills() -> None:
    sender, told = Sender(), Told()
    sender.gpu.observe(told)
    places = [DATA >> 32, DATA & 0xFFFFFFFF, DATA >> 32, (DATA & 0xFFFFFFFF) + 0x100]
    set_up = inc(B0B5["OFFSET_IN_UPPER"].word, *places, subchannel=COPY)
    size = inc(B0B5["LINE_LENGTH_IN"].word, 16, 1, subchannel=COPY)
    sender.send(set_up, size, inc(B0B5["LAUNCH_DMA"].word, 0x186, subchannel=COPY))
    ((class_id, target, source),) = told.found["copied"]
    assert class_id == B0B5.class_id
    assert source.reach == (DATA, DATA + 16) and target.reach == (DATA + 0x100, DATA + 0x110)
    remap = inc(B0B5["SET_REMAP_COMPONENTS"].word, 0x34444, subchannel=COPY)
    sender.send(remap, inc(B0B5["LAUNCH_DMA"].word, 0x586, subchannel=COPY))
    assert told.found["filled"][0][0].reach == (DATA + 0x100, DATA + 0x140)
    assert TWOD.class_id not in [what[0] for what in told.found["copied"]]


# -- stops ------------------------------------------------------------------------------------------------------------
def test_a_stop_may_raise_and_the_machine_goes_on() -> None:
    """A checkpoint taken in a stop brings that place back, in the middle of a submission."""

    class Enough(Exception):
        pass

    class Stopping(Observer):
        at = 1

        def stopped(self, channel: Channel) -> None:
            self.at -= 1
            if self.at == 0:
                raise Enough

    sender = Sender()
    gpu = sender.gpu
    with gpu.observed(Stopping()), pytest.raises(Enough):
        sender.send(*upload(4, 5), *upload(4, 6))
    assert sender.data() == 5
    there, value = gpu.checkpoint(), sender.data()
    assert "1 channels" in repr(there)
    gpu.run()
    assert sender.data() == 6
    gpu.interrupt("notify")
    gpu.spend(99)
    time = gpu.timestamp()
    gpu.restore(there)
    assert sender.data() == value and not gpu.interrupts and gpu.timestamp() < time
    gpu.run()
    assert sender.data() == 6
    with pytest.raises(UsageError):
        GM20B().restore(there)


def test_pictures() -> None:
    told, gpu = Told(), GM20B()
    gpu.map(BUFFER, 0x1000)
    gpu.observe(told)
    gpu.present(BUFFER, Surface(16, 16))
    assert told.found["presented"] == [(BUFFER,)]
