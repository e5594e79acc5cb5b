"""What a player says to those who ask."""

from __future__ import annotations

from pocketgpu.events import EventLog
from pocketgpu.guests.input.answers import Answers


def test_scripted_answers_come_before_given_ones() -> None:
    events = EventLog()
    answers = Answers(events)
    answers.given += ["one", None]
    assert not answers.must_wait and answers.next("somebody") == "one"
    answers.scripted.append("now")
    assert [answers.next("somebody") for _ in range(3)] == ["now", None, None]
    assert [one.message for one in events] == ["somebody found no answer in the script and was cancelled"]


def test_who_asks_waits_for_the_script() -> None:
    answers, rest = Answers(EventLog()), [True]
    answers.later = lambda: rest[0]
    assert answers.must_wait
    answers.given.append("hello")
    assert not answers.must_wait and answers.next("somebody") == "hello" and answers.must_wait
    answers.scripted.append(None)
    assert not answers.must_wait and answers.next("somebody") is None
    rest[0] = False
    assert not answers.must_wait
