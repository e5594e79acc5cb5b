"""What kernels of both consoles do: run threads and let time pass. Waits are in `waits.py`.

A console's kernel adds its supervisor calls: a method for each number, which sets the thread's answer or makes it wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from pocketgpu.displayed import line_of
from pocketgpu.events import EventLog
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.handles import Handles
from pocketgpu.guests.kernel.memory import PAGE, AddressSpace, Area, Permission
from pocketgpu.guests.kernel.objects import KernelObject, Mutex, Timer, Waitable
from pocketgpu.guests.kernel.processor import Fault, Processor
from pocketgpu.guests.kernel.report import Registers, Step, ThreadState, Tracer, end_text
from pocketgpu.guests.kernel.threads import Scheduler, Thread, TlsBlocks
from pocketgpu.guests.kernel.timeline import Timeline
from pocketgpu.guests.kernel.waits import Waits
from pocketgpu.late_dataclass import dataclass

TURN: Final = 100_000
"""Nanoseconds that threads of a core run while those of another one could, too."""
_MOST_TOLD: Final = 1000
"""Kinds of unknown things that are told with a count."""
MOST_TEXT: Final = 16 << 20
"""Bytes of what a program prints for a debugger."""


class SharedMemory(Protocol):
    """Memory that a GPU and a processor see."""

    def others_wrote(self) -> None:
        """The processor has run: pages that it shares may differ."""
        ...


class Machine(Protocol):
    """The GPU beside the processor."""

    @property
    def choices(self) -> Mapping[str, str]:
        """Named choices and their values."""
        ...

    @property
    def memory(self) -> SharedMemory:
        """Its memory."""
        ...


class Process(Waitable):
    """The program itself, for handles. It is signalled when its state changes, which it does not live to see."""

    kind = "process"

    def signalled(self, thread: Thread) -> bool:
        return False

    def taken(self, thread: Thread) -> None:
        """Nobody gets through."""


@dataclass(frozen=True, slots=True)
class End:
    """How a program ended; `print` shows the registers and the back trace.

    why: "exit", "close", "break", "fault", "error", "waits forever", "unknown call"; text: for people, one line.
    threads: where they were, first the one that ended the program; empty if the program meant to end. details: further
    lines, such as an error record that the program has given.
    """

    why: str
    text: str = ""
    fault: Fault | None = None
    threads: tuple[ThreadState, ...] = ()
    details: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return line_of(self, f"{self.why}: {self.text}" if self.text else self.why)

    def __str__(self) -> str:
        head = f"The program ended: {self.why}" + (f": {self.text}" if self.text else "")
        return end_text(head, self.details, self.threads, whole=self.fault is None and self.why == WAITS_FOREVER)

    @property
    def well(self) -> bool:
        """Whether the program meant it."""
        return self.why in ("exit", "close")

    @property
    def exit_code(self) -> int:
        """For a command: 0 if the program meant to end, 1 if it has a fault."""
        return 0 if self.well else 1

    @property
    def thread(self) -> int | None:
        """The number of the thread that ended the program."""
        return self.threads[0].number if self.threads else None

    @property
    def registers(self) -> Registers | None:
        """The registers of that thread."""
        return self.threads[0].registers if self.threads else None

    @property
    def trace(self) -> tuple[Step, ...]:
        """The back trace of that thread: the function that ran, the one that called it, and so on."""
        return self.threads[0].trace if self.threads else ()


WAITS_FOREVER: Final = "waits forever"


class Kernel(Waits):
    """One process on one console. Consoles derive from it.

    calls: their supervisor calls by number. call_ticks: how long a call takes, so that a program that only makes calls
    gets to the next frame. steps: how often it was asked to go on; equal runs have equal steps. events: what the
    program did that is not modelled. text: what it printed for a debugger. own_handles: handles that every thread has
    without asking: "thread" and "process". out_of_handles: the result of a call for whose object there is no handle.
    flush_listeners: called with address and size of what the program writes
    back from its caches by a call. tls: blocks for new threads. blocks: shared memory that is mapped, by address.
    """

    calls: Mapping[int, Callable[[Thread], None]]
    own_handles: Mapping[int, str] = {}
    out_of_handles = 0
    outside_state = frozenset({"processor", "listeners", "calls", "tracer", "flush_listeners"})

    def __init__(
        self, processor: Processor, space: AddressSpace, timeline: Timeline, machine: Machine, tls: TlsBlocks
    ) -> None:
        first_come = machine.choices["guest.scheduling"] == "first-come"
        scheduler = Scheduler(max(1, timeline.ticks(TURN)), first_come)
        super().__init__(timeline, scheduler, by_arrival=machine.choices["guest.wait_order"] == "arrival")
        self.processor, self.space, self.tls = processor, space, tls
        self.handles = Handles()
        self.blocks: dict[int, MemoryBlock] = {}
        self.process, self.events, self.text = Process(), EventLog(), bytearray()
        self.flush_listeners: list[Callable[[int, int], None]] = []
        self._choices, self._memory = machine.choices, machine.memory
        self._told: dict[tuple[str, str], str] = {}
        self.end: End | None = None
        self.current: Thread | None = None
        self.steps = self.call_ticks = 0
        self.tracer: Tracer | None = None
        """Finds the functions of a thread; set when a program is loaded."""
        self._threads = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: tick {self.time.now}, {len(self.scheduler.threads)} threads>"

    # -- running ----------------------------------------------------------------------------------------------------
    def step(self) -> bool:
        """Run the best thread to its next call, or let time pass; False when the program has ended."""
        if self.end is not None:
            return False
        self.steps += 1
        thread, turn = self.scheduler.next(self.time.now)
        self.current = thread
        if thread is None:
            if self._stuck() or not self.time.skip():
                self.finish(End(WAITS_FOREVER, "all threads wait for what only the program itself could signal"))
                return False
            self._due()
            self.memory_differs()
            return self.end is None
        due = self.time.next
        budget = MOST_AT_ONCE if due is None else max(1, due - self.time.now)
        if turn is not None:
            budget = min(budget, turn)
        stop = self.processor.run(thread, budget, self.time.now)
        self.memory_differs()
        thread.executed += stop.used
        self.time.pass_ticks(stop.used)
        if stop.fault is not None:
            self.faulted(thread, stop.fault)
        elif stop.call is None:
            self._due()
        else:
            self._call(thread, stop.call)
        return self.end is None

    def _due(self) -> None:
        while self.end is None and (due := self.time.take_due()) is not None:
            for one in self.listeners:
                one.event_starts(due)
            due.action(due.tick)
            for one in self.listeners:
                one.event_ended(due)

    def _call(self, thread: Thread, number: int) -> None:
        thread.answer = {}
        self.time.pass_ticks(self.call_ticks)
        for one in self.listeners:
            one.call_starts(thread, number)
        handler = self.calls.get(number)
        if handler is None:
            self.unknown_call(thread, number)
        else:
            handler(thread)
        for one in self.listeners:
            one.call_ended(thread, number)

    def run(self, until: Callable[[], bool] | None = None) -> End | None:
        """Run until a condition holds after a step, or to the program's end, which is returned."""
        while self.step():
            if until is not None and until():
                return None
        return self.end

    def _stuck(self) -> bool:
        """Whether no thread will ever run again: each waits without a limit, for nothing that the console signals."""
        for thread in self.scheduler.threads:
            wait = thread.wait
            if wait is None:
                if thread.paused:
                    continue
                return False
            if wait.due is not None:
                return False
            if any(one.outside or (isinstance(one, Timer) and one.due is not None) for one in wait.objects):
                return False
        return True

    def finish(self, end: End) -> None:
        """The program ends here, whatever its threads do. An end that it did not mean gets the state of its threads."""
        if self.end is None:
            self.end = end if end.well else replace(end, threads=self._thread_states(end.fault is not None))

    def _thread_states(self, fault: bool) -> tuple[ThreadState, ...]:
        """Where all threads are, the current one first. fault: it is not in a call, but at an instruction."""
        if self.tracer is None:
            return ()
        states = []
        for thread in sorted(self.scheduler.threads, key=lambda one: (one is not self.current, one.number)):
            registers = self.processor.registers(thread)
            if registers is not None:
                trace = self.tracer.trace(registers, in_call=not (fault and thread is self.current))
                waits = thread.wait.text if thread.wait is not None else ""
                states.append(ThreadState(thread.number, thread.priority, registers, trace, waits))
        return tuple(states)

    def memory_differs(self) -> None:
        """The program or a service may have written memory."""
        self._memory.others_wrote()

    def flushed(self, address: int, size: int) -> None:
        """The program wrote a range of its caches back."""
        for told in self.flush_listeners:
            told(address, size)

    def faulted(self, thread: Thread, fault: Fault) -> None:
        """A thread cannot go on."""
        text = f"{fault.what} at {fault.address:#010x}, thread {thread.number}"
        registers = self.processor.registers(thread)
        self.finish(End("fault", text, fault, details=self._hints(fault, registers) if registers is not None else ()))

    def _hints(self, fault: Fault, registers: Registers) -> tuple[str, ...]:
        """What an address that is wrong is likely to be."""
        if fault.address == fault.pc:
            if fault.address < PAGE:
                return ("A pointer to a function was null.",)
            size = 4 - fault.pc % 4
            area = self.space.find(fault.pc)
            if area is None or not area.permission & Permission.EXECUTE:
                return ()
            code = int.from_bytes(area.view[fault.pc - area.base :][:size], "little")
            return (f"The instruction there is {code:#0{2 + 2 * size}x}.",)
        if fault.address < PAGE:
            return ("It is a null pointer, or a member of what one points to.",)
        if abs(fault.address - registers["sp"]) < PAGE and self.space.find(fault.address) is None:
            return ("That is where the stack pointer is: the stack is full, or the pointer is wrong.",)
        return ()

    def unknown_call(self, thread: Thread, number: int) -> None:
        """A supervisor call that this kernel does not have."""
        raise NotImplementedError

    # -- what programs say ------------------------------------------------------------------------------------------
    def printed(self, data: bytes) -> None:
        """Text for a debugger; no more is kept than anybody reads."""
        room = MOST_TEXT - len(self.text)
        if len(data) > room:
            self.events.report("warning", "guest.text", f"the program printed more than {MOST_TEXT >> 20} MiB")
        self.text += data[: max(0, room)]

    def not_modelled(self, id: str, name: str, words: Sequence[int], thread: Thread) -> None:
        """Report something unknown: once for each kind, with the words of its first time, and how often it was.
        Ends the run where the choice `guest.unknown_call` says so."""
        message = self._told.get((id, name))
        if message is None:
            shown = " ".join(f"{word:08x}" for word in words)
            message = f"{name} is not modelled (first by thread {thread.number}: {shown})"
            if len(self._told) < _MOST_TOLD:
                self._told[id, name] = message
        self.events.report("warning", id, message)
        if self._choices["guest.unknown_call"] == "end":
            self.finish(End("unknown call", message))

    def absent_service(self, name: str, thread: Thread) -> None:
        """A service that a program asks for and that is not here."""
        self.events.report("warning", "guest.service", f"the service {name} is absent here")

    # -- objects ----------------------------------------------------------------------------------------------------
    def object_of(self, thread: Thread, handle: int) -> KernelObject | None:
        """The object of a handle; the calling thread and the process have fixed ones."""
        own = self.own_handles.get(handle)
        if own is not None:
            return thread if own == "thread" else self.process
        return self.handles.get(handle)

    def handle_of(self, one: KernelObject) -> int:
        """A new handle of an object that a service shares with the program; 0 if there is no room."""
        one.outside = True
        return self.handles.add(one) or 0

    def map_block(self, block: MemoryBlock, address: int, permission: Permission, state: int = 0) -> None:
        """Map shared memory. state: the kernel's number for its kind.

        :raises AddressError: it is not of whole pages, or something is there.
        """
        self.space.map(Area(address, len(block.view), permission, block.name, block.view, state, block.physical))
        self.blocks[address] = block

    def give(self, one: KernelObject) -> tuple[int, ...] | int:
        """The reply of a call that makes an object: a handle of it."""
        handle = self.handles.add(one)
        return self.out_of_handles if handle is None else (0, handle)

    # -- threads ----------------------------------------------------------------------------------------------------
    def make_thread(
        self, priority: int, entry: int, argument: int, stack: int, *, starts: bool = True
    ) -> Thread | None:
        """A new thread with clean thread-local storage; None if there are too many. starts: it is ready to run."""
        tls = self.tls.take()
        if tls is None:
            return None
        self.space.view(tls, self.tls.size)[:] = bytes(self.tls.size)
        self._threads += 1
        thread = Thread(self._threads, priority, tls)
        self.processor.start(thread, entry, argument, stack)
        if starts:
            self.scheduler.add(thread)
        return thread

    def end_thread(self, thread: Thread) -> None:
        """A thread is over: its locks are free, and threads that wait for it go on."""
        self.tls.give_back(thread.tls)
        self.scheduler.remove(thread)
        for one in self.owned(thread):
            one.owner, one.depth = None, 0
            self.wake(one)
        self.wake(thread)
        if not self.scheduler.threads:
            self.finish(End("exit", "the last thread has ended"))

    def owned(self, thread: Thread) -> Sequence[Mutex]:
        """Locks that a thread holds."""
        return [one for one in self.handles.objects() if isinstance(one, Mutex) and one.owner is thread]


MOST_AT_ONCE: Final = 1 << 24
"""Instructions that a thread runs without a look at the time, where nothing is due."""
