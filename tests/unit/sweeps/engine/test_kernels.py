"""Kernels that a scheduler keeps: who is given what."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")

from pocketgpu.sweeps.engine import kernels
from pocketgpu.sweeps.engine.kernels import Entry, Kernels, digest_of


def entry(number: int, size: int = 4) -> Entry:
    data = bytes([number]) * size
    return f"{number:040x}", digest_of(data), data


def test_what_one_worker_offers_the_others_are_given() -> None:
    held = Kernels()
    one, two = entry(1), entry(2)
    answer = held.exchange([], 0, [one[0], two[0]])
    assert answer["wanted"] == [one[0], two[0]] and answer["entries"] == []
    answer = held.exchange([one, two], answer["known"], [one[0], two[0]], answer["token"])
    assert answer["wanted"] == [] and answer["entries"] == [] and answer["known"] == 2
    answer = held.exchange([], 0, [one[0]])
    assert answer["entries"] == [two] and answer["known"] == 2
    assert held.exchange([], 2, [one[0]], answer["token"])["entries"] == []
    assert held.exchange([], 2, [], "of an earlier scheduler")["entries"] == [one, two]
    assert repr(held) == "<Kernels: 2, 8 bytes>"


def test_what_is_damaged_is_not_taken() -> None:
    held = Kernels()
    key, digest, data = entry(1)
    held.exchange([(key, digest, data + b"x"), ("../" + key[3:], digest, data), (key.upper() + "g", digest, data)], 0)
    assert held.exchange([], 0)["entries"] == []
    held.exchange([(key, digest, data), (key, digest, data)], 0)
    assert held.exchange([], 0)["entries"] == [(key, digest, data)]


def test_it_keeps_and_gives_no_more_than_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LIMIT", 10)
    monkeypatch.setattr(kernels, "_MOST_AT_ONCE", 5)
    held = Kernels()
    held.exchange([entry(n) for n in range(5)], 0)
    first = held.exchange([], 0)
    assert [one[0] for one in first["entries"]] == [entry(0)[0], entry(1)[0]] and first["known"] == 2
    assert held.exchange([], 2, [], first["token"])["entries"] == []
    held.exchange([entry(7, 2)], 0)
    assert held.exchange([], 0, [entry(9)[0]])["wanted"] == []  # it is full
