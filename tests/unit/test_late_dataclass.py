"""`late_dataclass.dataclass` does what Python's own does, for every combination of options that the package uses."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import pytest

import pocketgpu
from pocketgpu.late_dataclass import dataclass

Decorator = Callable[..., Any]
OPTIONS = (
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"repr": False},
    {"eq": False},
    {"frozen": True, "eq": False},
    {"order": True, "slots": True},
    {"frozen": True, "order": True},
    {"kw_only": True},
)


def classes(decorate: Decorator, options: dict[str, bool]) -> tuple[Any, Any, Any]:
    """A class with all kinds of fields, one derived from it, and one with methods of its own."""

    @decorate(**options)
    class Base:
        """Text."""

        kind: ClassVar[str] = "kind"
        number: int
        text: str = "text"
        parts: list[int] = field(default_factory=list, compare=False)
        hidden: int = field(default=3, repr=False)
        made: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    @decorate(**options)
    class Derived(Base):
        """Text."""

        more: float = 1.5

        def __post_init__(self) -> None:
            self.made["post"] = self.number

    @decorate(**options)
    class Own:
        """Text."""

        number: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 7

    return Base, Derived, Own


def outcome(work: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        return work()
    except Exception as error:
        return type(error)


def asked(cls: Any) -> list[Any]:
    """What one can see of a class and of its objects."""
    names = [one.name for one in dataclasses.fields(cls)]
    some = {"number": 1, "text": "x", "parts": [5]}
    given = [{name: some[name] for name in names if name in some}, {"number": 1}, {"number": 2}]
    objects = [cls(**one) for one in given]
    first, second, third = objects
    seen: list[Any] = [str(inspect.signature(cls)), cls.__doc__, names, cls.__match_args__]
    seen += [repr(one).replace(hex(id(one)), "") for one in objects]
    seen += [outcome(lambda one=one: cls(*one)) for one in ((), (1, 2, 3, 4, 5, 6, 7, 8, 9))]  # type: ignore[misc]
    seen += [[getattr(one, name) for name in names] for one in (*objects, *map(copy.deepcopy, objects))]
    seen += [first == second, second == cls(number=1), second != third, first == 1]
    seen += [outcome(lambda: second < third), outcome(lambda: second >= third), outcome(lambda: second < 1)]
    seen += [outcome(lambda: hash(second) == hash(cls(number=1)))]
    seen += [cls.__hash__ is None, cls.__hash__ is object.__hash__]
    seen += [outcome(lambda: setattr(second, "number", 4)), second.number, outcome(lambda: delattr(third, "number"))]
    # Python's own raises TypeError where this raises FrozenInstanceError, if the class has slots, too.
    seen += [outcome(lambda: setattr(second, "new", 4)) is None, hasattr(second, "__dict__")]
    seen += [[getattr(dataclasses.replace(first, number=9), name) for name in names], dataclasses.asdict(first)]
    assert objects[1] is second
    if "parts" in names:
        assert first.parts is not second.parts and second.parts is not cls(number=3).parts
    return seen


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "none")
def test_it_is_as_pythons_own(options: dict[str, bool]) -> None:
    for late, own in zip(classes(dataclass, options), classes(dataclasses.dataclass, options), strict=True):
        assert asked(late) == asked(own)


@dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickle finds."""

    number: int
    parts: tuple[int, ...] = ()


def test_a_frozen_object_with_slots_is_pickled() -> None:
    one = Kept(3, (1, 2))
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.copy(one) == one


def test_init_is_compiled_when_it_is_used_often_or_looked_up() -> None:
    @dataclass
    class One:
        number: int
        text: str = "none"

    @dataclass(frozen=True)
    class Other:
        number: int

    for n in range(100):
        one = One(n) if n % 2 else One(number=n, text="some")
        assert (one.number, one.text) == (n, "none" if n % 2 else "some")
        assert inspect.isfunction(One.__dict__["__init__"]) == (n >= 8)
    for wrong in ((), (1, 2)):
        with pytest.raises(TypeError, match="__init__"):
            Other(*wrong)
    assert inspect.isfunction(Other.__dict__["__init__"])
    assert str(inspect.signature(Other.__init__)).startswith("(_self, number")


def test_the_first_objects_have_their_fields_in_order() -> None:
    @dataclass
    class One:
        number: int
        text: str = "none"
        parts: int = 3

    for _ in range(20):
        assert list(vars(One(parts=1, number=2))) == ["number", "text", "parts"]


def test_an_object_that_holds_itself_shows_itself() -> None:
    @dataclass
    class Link:
        to: Any = None

    one = Link()
    one.to = one
    assert repr(one).endswith("Link(to=...)")


def test_the_package_uses_it_everywhere() -> None:
    """One class made by Python's own takes as long as ten of these."""
    root = Path(pocketgpu.__file__).parent
    used = re.compile(r"from dataclasses import [^\n]*\bdataclass\b|@dataclasses\.dataclass")
    found = [str(path) for path in root.rglob("*.py") if used.search(path.read_text(encoding="utf-8"))]
    assert [Path(one).name for one in found] == ["late_dataclass.py"]
