"""Kernel objects and memory in programs in C: tests/guests/switch/objects.c and pages.c."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.facts.choices.guests import STRICT_SWITCH
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.maxwell.gm20b import GM20B

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
OBJECTS = """
created only 0
not ended ea01
a better one runs at once 1
started twice fa01
ended 0
equals and worse ones wait 0
equals after a yield 23
all after one for all 231
priority changed 2
  in the end 21
bad priority e001
bad core e201
core 0
mask 1
core not in the mask e801
other core 0
  now 1
slept a millisecond 1
all wait 1
the best has it first 2
then in order 213
free 1
no such owner e401
another owner 0
misaligned cc01
no memory d401
  to unlock d401
waiting 1
one, the best 3
others are left 1
woken, without the mutex 3
nobody is left 0
they wait for the mutex 1
in the end 312
results 0
time is up ea01
  nobody signalled 1
at once ea01
  the mutex was given back 1
up while it waits for the mutex ea01
nobody waits 0
free 1
not less fa01
less ea01
less, at once ea01
decremented ea01
  to 4
not equal fa01
no such kind f001
misaligned cc01
no memory d401
signal if equal fa01
one 0
  the best 2
incremented 0
  to 10
  all 213
by waiters 98
by waiters 100
by waiters 99
by waiters 99
without any 100
off ea01
reset fa01
on 0
still 0
reset 0
off ea01
wrong end e401
  to wait e401
cleared here 0
  and there 0
two, none ea01
the second 0
  index 1
both 0
  index 0
wrong handle e401
none ea01
too many ee01
no memory e601
closed e401
who waited went on 21
result 0
waits for itself 1
cancelled ec01
before it waits ec01
cancel what is no thread e401
no more handles d201
  many 1
twice e401
0 e401
usable again 1
absent port f201
long name ee01
no session e401
no such question f001
  of a thread e401
  with more e801
not a pointer e601
told only 0
physical memory fa01
counted 6
paused 0
  twice fa01
  counted 6
  context 0
  its stack 1
  goes on 1
context of a running one fa01
own f401
answers of another core 3
  its number 1
done
"""
"""From switchbrew's pages on supervisor calls and libnx's use of them. Results: ea01 time is up, ec01 cancelled, fa01
wrong state, e401 no such handle, d201 no handle left, d401 no such memory, cc01 misaligned, e001 priority, e201 core,
e801 combination, ee01 range, f001 no such kind, e601 pointer, f201 not found, f401 busy."""
PAGES = """
ends at the last address 1
few regions 1
beyond 10
  from 8000000000
code kind 8
  use 0
  permission 5
data kind 9
  use 0
  permission 3
heap kind 5
  use 0
  permission 3
TLS kind c
  use 0
  permission 3
stack b
read only 0
then kind 9
  use 0
  permission 1
alone 1
again 0
joined 1
executable d801
of code d401
misaligned cc01
no size ca01
no memory d401
uncached 0
then kind 9
  use 8
  permission 3
cached 0
no such use e801
fixed 0
  no more d401
mapped 0
the same 1234
alias kind b
  use 0
  permission 3
source kind 5
  use 1
  permission 0
taken d401
lent already d401
no place for it dc01
no source d401
of other memory dc01
a part 0
the same 77
the rest 0
twice d401
source kind 5
  use 0
  permission 3
lent 0
to a service kind 5
  use 1
  permission 0
twice d401
back kind 5
  use 0
  permission 3
kept 1234
a block 0
the same 1234
wrong size d401
gone 0
no shared memory e401
more 0
  there 1
  zero 1
  used 1
less 0
  gone 0
more 0
  zero again 1
odd ca01
too much d001
all of it 1
done
"""
"""Kinds: 3 to 9 code, data and heap, b stack, c TLS, 10 none. Use: 1 lent, 8 uncached. Results: d801 permission, dc01
no place for that, ca01 size, d001 no memory."""


def started(name: str, choices: dict[str, str] | None = None) -> SwitchKernel:
    """A program at its start."""
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B(switches=choices))
    kernel.load(read_program((PROGRAMS / f"{name}.nro").read_bytes(), name), ["sdmc:/switch/x.nro"])
    return kernel


def ended(name: str, choices: dict[str, str] | None = None) -> SwitchKernel:
    """A program that was run to its end."""
    kernel = started(name, choices)
    end = kernel.run()
    assert end is not None and end.why == "exit"
    return kernel


@pytest.mark.parametrize(("name", "said"), [("objects", OBJECTS), ("pages", PAGES)])
def test_what_a_program_finds(name: str, said: str) -> None:
    kernel = ended(name)
    assert kernel.text.decode() == said.lstrip()
    assert list(kernel.events) == []


def test_who_comes_first_runs_first_if_so_chosen() -> None:
    """Priorities then only choose who gets a mutex or is woken."""
    kernel = started("objects", {"guest.scheduling": "first-come"})
    kernel.run(lambda: b"then in order" in kernel.text)
    assert {"a better one runs at once 0", "the best has it first 0"} <= set(kernel.text.decode().splitlines())
    kernel.run(lambda: kernel.text.endswith(b"free 1\n"))
    assert "then in order 213" in kernel.text.decode().splitlines()


def test_the_trial_kernel_knows_no_lent_pages() -> None:
    lines = ended("pages", dict(STRICT_SWITCH)).text.decode().splitlines()
    at = lines.index("source kind 5")
    assert lines[at : at + 3] == ["source kind 5", "  use 0", "  permission 3"]
    assert "no memory 0" in lines and "twice 0" in lines and "uncached 0" in lines


def test_two_runs_are_the_same() -> None:
    first, second = ended("objects"), ended("objects")
    assert (first.time.now, first.steps, bytes(first.text)) == (second.time.now, second.steps, bytes(second.text))


@pytest.mark.parametrize(("name", "said"), [("objects", OBJECTS), ("pages", PAGES)])
def test_going_back_finds_threads_waits_and_pages_as_they_were(name: str, said: str) -> None:
    with pocketgpu.run(PROGRAMS / f"{name}.nro") as app:
        app.frames(1)
        text = app.text
        app.frames(5)
        assert app.end is not None and app.text == said.lstrip()
        app.back(app.frame_count)
        assert app.text == "" and app.end is None
        app.frames(1)
        assert app.text == text
        app.frames(5)
        assert app.end is not None and app.end.well and app.text == said.lstrip()
