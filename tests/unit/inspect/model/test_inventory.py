"""What a capture has, counted by hand: totals of frames, features and doubts with the place where they were first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pocketgpu.facts.choices import CHOICES
from pocketgpu.inspect.model.inventory import Doubt, Feature, Inventory, Use


@dataclass
class Frame:
    index: int
    draws: int
    bytes_loaded: int

    def to_dict(self) -> dict[str, Any]:
        return {"index": self.index, "draws": self.draws, "bytes_loaded": self.bytes_loaded}


class Counted(Inventory[Frame]):
    @property
    def unseen(self) -> frozenset[str]:
        return frozenset()

    def to_dict(self) -> dict[str, Any]:
        return self.totals()


class WithTheRest(Counted):
    @property
    def parts(self) -> Sequence[Frame]:
        return [*self.frames, Frame(-1, 100, 1)]


FIRST, SECOND = [*CHOICES][:2]


def test_totals() -> None:
    frames = [Frame(5, 1, 2000), Frame(6, 2, 0)]
    assert Counted(frames).totals() == {"draws": 3, "bytes_loaded": 2000} and Counted().totals() == {}
    assert WithTheRest(frames).totals() == {"draws": 103, "bytes_loaded": 2001}
    assert str(Counted(frames)) == "3 draws, 2,000 bytes loaded" and str(Counted()) == "nothing"
    assert str(Counted([Frame(0, 0, 0)])) == "nothing"


def test_the_first_place_stays() -> None:
    use = Use()
    assert str(use) == "0 times"
    use.add(2, "f3")
    use.add(1000, "f1")
    assert (use.count, use.first, str(use)) == (1002, "f3", "1,002 times, first at f3")


def test_uses_and_doubts() -> None:
    texture, blending = Feature("texture", "4 units"), Feature("blending", "")
    possible, sure = Doubt(FIRST, "it may", certain=False), Doubt(SECOND, "it does")
    found = Counted([Frame(0, 1, 0)])
    found.use([texture, texture, blending], 2, "f0")
    found.use([blending], 3, "f1")
    found.note([possible], 1, "f0")
    found.note([sure, possible], 4, "f1")
    found.sort()
    assert found.features_to_json() == [
        {"id": "blending", "text": "", "count": 5, "first": "f0"},
        {"id": "texture", "text": "4 units", "count": 2, "first": "f0"},
    ]
    choices = [
        {"switch": name, "default": CHOICES[name].default, "alternatives": list(CHOICES[name].alternatives)}
        for name in (SECOND, FIRST)
    ]
    assert found.doubts_to_json() == [
        choices[0] | {"certain": True, "reason": "it does", "count": 4, "first": "f1"},
        choices[1] | {"certain": False, "reason": "it may", "count": 5, "first": "f0"},
    ]
    assert str(found).splitlines() == [
        "1 draw", "uses blending, 5 times, first at f0", "uses texture: 4 units, 2 times, first at f0",
        f"depends on {SECOND}: it does, 4 times, first at f1",
        f"may depend on {FIRST}: it may, 5 times, first at f0",
    ]  # fmt: skip
    assert sure.switch == SECOND and str(texture) == "texture: 4 units"


def test_doubts_of_one_kind_are_in_order_of_their_names() -> None:
    found = Counted()
    found.note([Doubt(name, "", certain) for name in sorted(CHOICES)[:3][::-1] for certain in (False, True)], 1, "f0")
    found.sort()
    assert [(one.certain, one.choice) for one in found.doubts] == [
        (certain, name) for certain in (True, False) for name in sorted(CHOICES)[:3]
    ]
