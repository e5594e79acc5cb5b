"""Library applets as programs see them: they are created, given storages, started, and asked for what they answer.

Source: libnx's services/applet.c, applets/libapplet.c; switchbrew Applet Manager services.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.applets import AppletMode
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import hold, release
from pocketgpu.guests.switch.services.library_applets.library_program import LibraryProgram, Said
from pocketgpu.guests.switch.services.library_applets.programs import program
from pocketgpu.guests.switch.services.library_applets.storages import Budget, LentStorage, OwnStorage, Storage

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_STORAGES: Final = 64
"""In each queue of an applet."""
_IN_FRONT: Final = (AppletMode.ALL_FOREGROUND, AppletMode.ALL_FOREGROUND_HIDDEN)


class LibraryApplets:
    """The library applets of a console. answers: what the player says to them. cover: is told whether some applet is in
    front of the program. running: those that were started and have not ended."""

    def __init__(self, kernel: SwitchKernel, answers: Answers, cover: Callable[[bool], None]) -> None:
        self.kernel, self.answers, self.cover = kernel, answers, cover
        self.budget = Budget()
        self.running: list[LibraryAppletAccessor] = []

    def __repr__(self) -> str:
        return f"<LibraryApplets: {len(self.running)} running>"

    def answer(self, text: str | None) -> None:
        """What the player says to the applet that waits, or else to the next one. None cancels it."""
        self.answers.scripted.append(text)
        for one in self.running:
            if one.waits:
                one.go_on()
                return

    def started(self, one: LibraryAppletAccessor) -> None:
        """An applet runs."""
        self.running.append(one)
        self._look()

    def ended(self, one: LibraryAppletAccessor) -> None:
        """It does no more."""
        self.running.remove(one)
        self._look()

    def _look(self) -> None:
        self.cover(any(one.in_front for one in self.running))


class LibraryAppletCreator(Interface):
    """Creates applets and storages."""

    name = "ILibraryAppletCreator"

    def __init__(self, kernel: SwitchKernel, applets: LibraryApplets) -> None:
        super().__init__(kernel)
        self.applets = applets

    @command(0)
    def create_library_applet(self, request: CmifRequest) -> CmifAnswer:
        """Its number and its mode."""
        if self.kernel.machine.choices["guest.applets"] == "absent":
            return self.kernel.unknown_command(self, request)
        id, mode = request.values("II")
        return CmifAnswer(objects=(LibraryAppletAccessor(self.kernel, self.applets, id, mode),))

    @command(1)
    def terminate_all_library_applets(self, request: CmifRequest) -> CmifAnswer:
        for one in list(self.applets.running):
            one.end(Result.APPLET_CANCELLED)
        return CmifAnswer()

    @command(2)
    def are_any_library_applets_left(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", bool(self.applets.running)))

    @command(10)
    def create_storage(self, request: CmifRequest) -> CmifAnswer:
        (size,) = request.values("q")
        if not self.applets.budget.take(size):
            return CmifAnswer(result=Result.BAD_STORAGE)
        return CmifAnswer(objects=(OwnStorage(self.kernel, bytes(size), self.applets.budget),))

    @command(11)
    def create_transfer_memory_storage(self, request: CmifRequest) -> CmifAnswer:
        """Whether the applet may change it; the size."""
        writable, size = request.values("B7xq")
        return self._lent(request, size, bool(writable & 1))

    @command(12)
    def create_handle_storage(self, request: CmifRequest) -> CmifAnswer:
        (size,) = request.values("q")
        return self._lent(request, size, writable=False)

    def _lent(self, request: CmifRequest, size: int, writable: bool) -> CmifAnswer:
        block = request.copies[0] if request.copies else None
        if not isinstance(block, MemoryBlock):
            return CmifAnswer(result=Result.INVALID_HANDLE)
        if not 0 <= size <= len(block.view):
            return CmifAnswer(result=Result.BAD_STORAGE)
        return CmifAnswer(objects=(LentStorage(self.kernel, block, size, writable=writable),))


class LibraryAppletAccessor(Interface):
    """An applet. program: what it does, once it was started. waits: whether it waits for the player. result: how it
    ended. changed: signalled when it ends. inputs: what the program has handed it. outputs, questions: what the program
    has not taken yet."""

    name = "ILibraryAppletAccessor"

    def __init__(self, kernel: SwitchKernel, applets: LibraryApplets, id: int, mode: int) -> None:
        super().__init__(kernel)
        self.applets, self.id, self.mode = applets, id, mode
        self.program: LibraryProgram | None = None
        self.waits, self.done, self.result = False, False, int(Result.OK)
        self.changed = Event(Reset.STICKY, "library applet")
        self.inputs: list[Storage] = []
        self.outputs = _Outputs(self, "library applet's answers")
        self.questions = _Outputs(self, "library applet's questions")

    @property
    def in_front(self) -> bool:
        """Whether it covers the program."""
        return self.mode in _IN_FRONT

    def closed(self) -> None:
        self.end(Result.APPLET_CANCELLED)
        for one in (*self.inputs, *self.outputs.waiting, *self.questions.waiting):
            release(one)

    # -- what it does -----------------------------------------------------------------------------------------------
    def go_on(self) -> None:
        """Let the player answer; later, if the answer comes later."""
        assert self.program is not None
        self.waits = self.program.asks and self.applets.answers.must_wait
        if not self.waits:
            self._says(self.program.run())

    def _says(self, said: Said) -> None:
        for data in said.outputs:
            self.outputs.add(data)
        for data in said.questions:
            self.questions.add(data)
        if said.done:
            self.end(said.result)

    def end(self, result: int) -> None:
        """It does no more."""
        if self in self.applets.running:
            self.waits, self.done, self.result = False, True, result
            self.applets.ended(self)
            self.kernel.signal(self.changed)

    # -- commands ---------------------------------------------------------------------------------------------------
    @command(0)
    def get_applet_state_changed_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.changed,))

    @command(1)
    def is_completed(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.done))

    @command(10)
    def start(self, request: CmifRequest) -> CmifAnswer:
        """The first storage has the arguments that all applets have."""
        if self.program is None:
            inputs = [one.view for one in self.inputs[1:]]
            self.program = program(self.id, self.applets.answers, inputs, in_front=self.in_front)
            self.applets.started(self)
            self.go_on()
        return CmifAnswer()

    @command(20)
    @command(25)
    def request_exit(self, request: CmifRequest) -> CmifAnswer:
        self.end(Result.APPLET_CANCELLED)
        return CmifAnswer()

    @command(30)
    def get_result(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(result=Result(self.result))

    @command(50)
    @command(60)
    @command(150)
    def set(self, request: CmifRequest) -> CmifAnswer:
        """What the program and the GPU do meanwhile; the applet ends at once."""
        return CmifAnswer()

    @command(100)
    @command(102)
    def push_in_data(self, request: CmifRequest) -> CmifAnswer:
        one = request.objects[0] if request.objects else None
        if not isinstance(one, Storage) or len(self.inputs) >= MOST_STORAGES:
            return CmifAnswer(result=Result.BAD_STORAGE)
        hold(one)
        self.inputs.append(one)
        return CmifAnswer()

    @command(103)
    def push_interactive_in_data(self, request: CmifRequest) -> CmifAnswer:
        """The program answers a question of the applet."""
        one = request.objects[0] if request.objects else None
        if not isinstance(one, Storage):
            return CmifAnswer(result=Result.BAD_STORAGE)
        if self.program is not None and not self.done:
            said = self.program.told(one.view)
            if said is None:
                self.go_on()
            else:
                self.waits &= self.program.asks
                self._says(said)
        return CmifAnswer()

    @command(101)
    def pop_out_data(self, request: CmifRequest) -> CmifAnswer:
        return self.outputs.pop()

    @command(104)
    def pop_interactive_out_data(self, request: CmifRequest) -> CmifAnswer:
        return self.questions.pop()

    @command(105)
    def get_pop_out_data_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.outputs.event,))

    @command(106)
    def get_pop_interactive_out_data_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.questions.event,))

    @command(110)
    def needs_to_exit_process(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))

    @command(120)
    def get_library_applet_info(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<2I", self.id, self.mode))

    @command(160)
    def get_indirect_layer_consumer_handle(self, request: CmifRequest) -> CmifAnswer:
        """Of pictures of an applet within those of the program; there are none."""
        return CmifAnswer(struct.pack("<Q", 0))


class _Outputs:
    """Storages that an applet leaves for its program. event: on while there are some."""

    def __init__(self, owner: LibraryAppletAccessor, name: str) -> None:
        self.owner = owner
        self.event = Event(Reset.STICKY, name)
        self.waiting: deque[Storage] = deque()

    def __repr__(self) -> str:
        return f"<{len(self.waiting)} storages>"

    def add(self, data: bytes) -> None:
        """Leave one more."""
        kernel, applets = self.owner.kernel, self.owner.applets
        if len(self.waiting) < MOST_STORAGES and applets.budget.take(len(data)):
            one = OwnStorage(kernel, data, applets.budget)
            hold(one)
            self.waiting.append(one)
            kernel.signal(self.event)

    def pop(self) -> CmifAnswer:
        """Give the first one to the program."""
        if not self.waiting:
            return CmifAnswer(result=Result.NO_DATA)
        one = self.waiting.popleft()
        one.holders -= 1
        self.event.on = bool(self.waiting)
        return CmifAnswer(objects=(one,))
