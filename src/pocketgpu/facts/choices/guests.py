"""Choices of the kernels that run programs.

Recorded conversations of programs were answered by a trial kernel. With the values named for it, ours gives the same
answers at the same ticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pocketgpu.facts.choices.choice import Choice, named, what_if


def choices() -> Iterator[Choice]:
    """All of them."""
    yield from _kernel()
    yield from _services()
    yield from _switch_services()


def _kernel() -> Iterator[Choice]:
    yield named(
        "guest.vblank_clock",
        "When the next VBlank comes if one was noticed late, at the end of a block of instructions.",
        steady="59.83 a second",
        late="a whole period after the one that was late",
    )
    yield named(
        "guest.block_alignment",
        "CreateMemoryBlock with an address that is not a multiple of 4096.",
        checked="an error",
        any="accepted",
    )
    yield what_if(
        "guest.unknown_call",
        "A supervisor call, or a command of a service, that is not modelled. It is an event in any case.",
        answer="an answer as of a console that does not have it: an error code",
        end="the run ends there, so that nothing goes on with a wrong answer",
    )
    yield named(
        "guest.call_time",
        "How long a supervisor call takes.",
        microsecond="about what a console needs at least; programs that do nothing else get on",
        none="no time at all",
    )


    yield named(
        "guest.scheduling",
        "Which of several threads that could run does.",
        priority="the best priority; a better one that is woken by a call runs at once",
        first_come="who is ready first, until it waits or finds what it would wait for",
    )
    yield named(
        "guest.wait_order",
        "Which of several threads with equal priorities is woken, or gets a mutex.",
        arrival="the one that has waited longest",
        creation="the one that was made first",
    )
    yield named(
        "guest.priorities",
        "The priority of a thread of the Switch that has a mutex for which a better one waits.",
        inherited="that of the better one, as long as that waits; GetThreadPriority tells it",
        own="always the one that the program gave it",
    )
    yield named(
        "guest.page_states",
        "Whether the Switch's kernel checks and tells what pages are used for.",
        kept="pages that are lent are out of reach, wrong ranges are errors, QueryMemory tells all",
        simple="changes of pages succeed, also where nothing is; QueryMemory tells whole areas",
    )
    yield named(
        "guest.clock",
        "How time passes for a program of the Switch.",
        counted="a tick for each instruction, submissions by the GPU's timer; a picture is shown each 60th of a second",
        presents="each picture moves time to the next 60th of a second; else only waits do",
    )
    yield named(
        "guest.exceptions",
        "Whether a fault calls the handler of exceptions that a program of the Switch may have.",
        handler="the program's entry is called; without a handler the run ends with the fault",
        end="the run ends with the fault",
    )


def _services() -> Iterator[Choice]:
    yield named(
        "guest.hid_edges",
        "Whether an entry of the pad's shared memory has the keys that were pressed and released.",
        told="",
        left="only which are held",
    )
    yield named(
        "guest.hid_clock",
        "When hid:USER writes the next entries of pad, touch screen and sensors.",
        vblank="with each VBlank, as scripts give a player's input by frames",
        four_ms="every 4 ms; the input of a frame is written about four times",
    )
    yield named(
        "guest.archives",
        "What handles of archives of files tell apart.",
        own="each opened archive has its own",
        one="all have the number 1 and are the memory card",
    )
    yield named(
        "guest.applets",
        "Whether the HOME menu and library applets, such as the keyboard, are there.",
        answered="they are; a script answers for the player",
        absent="a program of the 3DS waits for them forever; on the Switch none can be created",
    )
    yield what_if(
        "guest.controller",
        "The controller of a program on a Switch.",
        pro="a Pro Controller of player 1, which every program takes",
        handheld="the halves at the console itself, unless it is in its dock",
        pair="two Joy-Con of player 1, held as one",
        left="the left Joy-Con of player 1, held alone",
        right="the right Joy-Con of player 1, held alone",
    )
    yield named(
        "guest.pads",
        "What hid of the Switch writes into its shared memory.",
        all="controllers, touch screen, sensors, colours; only entries that were written are valid",
        few="only buttons of a Pro Controller, and all entries are valid from the start",
    )
    yield named(
        "guest.motion",
        "Whether the accelerometer and the gyroscope write their entries while they are enabled.",
        written="",
        none="never",
    )
    yield named(
        "guest.sound",
        "Whether programs find what they need for the sound processor.",
        card="the processor is there; its program only if the card has /3ds/dspfirm.cdc",
        model="as if the card had that file: sounds are consumed in emulated time, without sound output",
    )
    yield named(
        "guest.settings",
        "What the console's settings hold besides the language.",
        filled="a console that has been set up; on the Switch also names of its software",
        zeros="",
    )
    yield named(
        "guest.services",
        "Which services a program finds.",
        console="all that are modelled; the others are absent, as to a program without the right for them",
        few="only those that programs cannot start without",
    )
    yield named(
        "guest.power",
        "What ptm:u reports about the charger and of charging.",
        connected="yes or no; connected, and full, so not charging",
        five="5, as for the level of the battery",
    )
    yield what_if(
        "guest.mode",
        "Where a Switch is when a program starts. Scripts can change it.",
        handheld="in the player's hands",
        docked="in its dock",
    )


def _switch_services() -> Iterator[Choice]:
    yield named(
        "guest.pointer_buffers",
        "How many bytes services of the Switch take as pointers, by their own word; clients choose how to send by it.",
        console="0x8000",
        none="none, so that clients map all buffers",
    )
    yield named(
        "guest.unknown_switch_command",
        "What a program of the Switch is answered to a command that is not modelled. It is an event in any case.",
        error="an error code, as of a service that does not have it",
        zeros="success, and 64 bytes that are 0",
    )
    yield named(
        "guest.performance_mode",
        "What a Switch in its dock says of its performance.",
        docked="1, boost",
        normal="0, as without the dock",
    )
    yield named(
        "guest.wave_buffers",
        "A wave buffer for the Switch's sound renderer that it cannot read: in no memory pool, or with too few bytes.",
        waits="its voice plays no further until the memory is attached, and the update tells an error",
        played="its time passes in silence, and the update tells an error",
    )
    yield what_if(
        "guest.date",
        "The date at which programs of the Switch start.",
        set="2026-01-01 00:00 UTC, on a console whose clock was set",
        zero="1970-01-01, the start of all counting, as on a console without a battery",
    )


STRICT: Final[Mapping[str, str]] = {
    "guest.power": "five", "guest.archives": "one", "guest.vblank_clock": "late", "guest.hid_edges": "left",
    "guest.block_alignment": "any", "guest.services": "few",
    "guest.call_time": "none", "guest.applets": "absent", "guest.motion": "none", "guest.settings": "zeros",
}  # fmt: skip
"""The values of the trial kernel that answered the 3DS's conversations."""
STRICT_SWITCH: Final[Mapping[str, str]] = {
    "guest.call_time": "none", "guest.scheduling": "first-come", "guest.wait_order": "creation",
    "guest.priorities": "own", "guest.page_states": "simple", "guest.clock": "presents", "guest.pads": "few",
    "guest.pointer_buffers": "none", "guest.unknown_switch_command": "zeros", "guest.date": "zero",
    "guest.settings": "zeros", "guest.performance_mode": "normal", "guest.services": "few",
}  # fmt: skip
"""The values of the one that answered the Switch's."""
