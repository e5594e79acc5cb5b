"""Sessions, code of its own, and priorities in programs in C: sessions.c, code.c, priorities.c."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
SESSIONS = """
no session yet f201
no third one e01
echo 0
  value 42
  process 51
sum 0
  of 15
  from the server's memory 1
too much for it ce01
fill 0
  last 4f
no memory d401
copied handle 0
  signalled 0
  closed there 0
  still here 0
  on 0
moved handle 0
  gone here e401
wrong handle e401
given 0
  an event that is on 0
for you
a reply ce01
no place for its text ce01
in a buffer 0
  value 8
slow 0
another sender 0
and this one 0
hangs up f601
  for good f601
still no third one e01
now there is 0
no port 10601
nothing has come ea01
for a while ea01
a message 0
  is there 0
  of 0
  wants 1
  no other ea01
who waited f601
close 0
nobody answers f601
no message to answer fa01
the client is gone f601
  index 0
  to answer f601
no server e401
wrong handle e401
a name 0
  twice fa01
  too long ee01
  no sessions ee01
echo 0
forgotten 0
  twice f201
  not found f201
registered 0
  twice 815
found 0
a session waits 0
who waited 0
answered ea01
forgotten 0
  twice e15
not found e15
done
"""
"""Results: e01 no more sessions, f201 none waits, ce01 no room for a pointer, d401 no such memory, e401 no such handle,
f601 the other side is gone, 10601 no port, ea01 time is up, fa01 wrong state, ee01 range, 815 and e15 of `sm:`."""
CODE = """
created 0
source kind 5
  use 1
  permission 0
twice d401
of code d401
odd ca01
wrong size ca01
wrong place dc01
wrong permission d801
  to run d801
wrong operation f001
mapped 0
  to run 0
  twice fa01
written kind 15
  use 0
  permission 3
run kind 14
  use 0
  permission 5
new bytes ffffffff
right 100
told by the other address 7
a loop 1005
another 2005
and before 7
unmap elsewhere d401
unmapped 0
still runs 7
  no more 0
source kind 5
  use 0
  permission 3
its bytes are the code 1
no process e401
right 20
source kind 5
  use 1
  permission 0
code kind 8
  use 0
  permission 5
mapped twice d401
all rights d801
written where it runs 0
  right 77
  kind f
  use 0
  permission 3
  away 0
  twice d401
as data 0
  kind 9
  use 0
  permission 3
  no more code d401
of other memory dc01
unmapped 0
  twice d401
asked 0
  kind 5
shared 0
  wrong permission d801
  wrong size ca01
  too much d001
mapped 0
  for reading only d801
  again 0
the same 1234
stays 1234
no handle e401
done
"""
"""Results: d401 wrong memory, ca01 size, dc01 place, d801 permission, f001 no such operation, fa01 mapped already,
e401 no process, d001 too much. Kinds: 5 heap, 8 code, 9 its data, f code to be written, 14 and 15 the sides of code
memory."""
PRIORITIES = """
one waits 2a
a better one 28
changed meanwhile 28
to a better one 20
given back 2c
in order 21
of a chain 25
  its middle 25
  after it 2c
  in order 12
woken for it 29
  and after 2c
in turns 120120120
not to worse ones 0
unless to all 111
slices 1
taken by another core 1
  prefers 0
  may have 7
x5 55
x21 66
v0 1111111111111111
v31 7777777777777777
own 66
in a call 0
  x21 99
the process ea01
  reset fa01
own thread e401
own process e401
processes 0
  one 1
  it is 51
threads 0
  one 1
too many asked ee01
no memory e601
threads there are 0
  one 1
threads there can be 0
  many 1
of what is not there f001
of no limit e401
system 0
  first process 1
  no such f001
done
"""
"""Priorities are hexadecimal; lower ones are better. Results: ea01 time is up, fa01 not signalled, e401 no such handle,
ee01 range, e601 pointer, f001 no such resource."""
SAID = {"sessions": SESSIONS, "code": CODE, "priorities": PRIORITIES}


def said(name: str, choices: dict[str, str] | None = None) -> str:
    """What a program said until its end."""
    with pocketgpu.run(PROGRAMS / f"{name}.nro", switches=choices) as app:
        app.frames(10)
        assert app.end is not None and app.end.well
        events = [one.message for one in app.console.kernel.events]
        assert events == (["the service own:srv is absent here"] if name == "sessions" else [])
        return app.text


@pytest.mark.parametrize("name", SAID)
def test_what_a_program_finds(name: str) -> None:
    assert said(name) == SAID[name].lstrip()


@pytest.mark.parametrize("name", SAID)
def test_going_back_to_any_moment(name: str) -> None:
    """A message that waits, code that was written, priorities that were passed on: all is there again."""
    with pocketgpu.run(PROGRAMS / f"{name}.nro") as app:
        kernel, points = app.console.kernel, []
        for _ in range(5):
            points.append((app.checkpoint(), app.text))
            for _ in range(40):
                kernel.step()
        app.frames(10)
        for point, text in reversed(points):
            app.restore(point)
            assert app.text == text
            app.frames(10)
            assert app.text == SAID[name].lstrip() and app.end is not None and app.end.well


def test_without_priorities_that_are_passed_on() -> None:
    lines = said("priorities", {"guest.priorities": "own"}).splitlines()
    assert lines[:3] == ["one waits 2c", "a better one 2c", "changed meanwhile 2b"]
    assert "in order 21" in lines and lines[-1] == "done", "the better one has the mutex first in any case"
