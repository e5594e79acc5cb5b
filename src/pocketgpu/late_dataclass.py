"""`dataclass` as Python's own, but its methods cost nothing until they are called.

    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 0

Python's own writes the source of every method and compiles it while the class is made: 0.4 to 0.6 ms for a class, and a
command makes up to two hundred of them before it draws. Here `__init__` is compiled when the first object is made, and
the other methods are functions that every class shares. For the type checker this is Python's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, repr=True, eq=True, order=False, frozen=False, slots=False, kw_only=False):
        """Make a class a dataclass; the options mean what they mean for Python's own."""

        def make(cls):
            # Without methods Python's own only collects the fields. A class without a docstring would get its
            # signature as one, which takes as long as compiling.
            documented = cls.__doc__ is not None
            if not documented:
                cls.__doc__ = cls.__name__
            # Python's own searches the text of each annotation for words that make it no plain field.
            types = vars(cls).get("__annotations__")
            if types:
                cls.__annotations__ = {name: _FIELD if _is_plain(type) else type for name, type in types.items()}
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            if types:
                made.__annotations__ = types
                for name, one in made.__dataclass_fields__.items():
                    if one.type is _FIELD:
                        one.type = types[name]
            _add_methods(made, repr, eq, order, frozen, slots)
            return made

        return make if cls is None else make(cls)


Getter = Callable[[Any], tuple[Any, ...]]
_FIELD = object()
"""Stands for the type of a plain field while a class is made."""
_SPECIAL = ("Var", "KW_ONLY")
"""Parts of the annotations that make no plain field."""


def _is_plain(type: Any) -> bool:
    """Whether an annotation is a text that makes a plain field."""
    return isinstance(type, str) and not any(word in type for word in _SPECIAL)


def _add_methods(cls: type, show: bool, eq: bool, order: bool, frozen: bool, slots: bool) -> None:
    """The methods that the options ask for; those that the class has itself stay."""
    own, fields = cls.__dict__, dataclasses.fields(cls)
    has_hash = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    methods: dict[str, Any] = {"__init__": _Init(cls, frozen)}
    if show:
        methods["__repr__"] = fields_repr
    if eq:
        get = _getter([one.name for one in fields if one.compare])
        methods["__eq__"] = _equal(get)
        if order:
            methods |= {f"__{compare.__name__}__": _ordered(get, compare) for compare in (lt, le, gt, ge)}
        if not has_hash:
            methods["__hash__"] = _hash(fields) if frozen else None
    if frozen:
        names = frozenset([one.name for one in fields])
        methods["__setattr__"], methods["__delattr__"] = _guards(cls, names)
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            setattr(cls, name, method)


_FEW = 8
"""So many objects of a class are made without compiling anything: that takes as long as dozens of them."""


class _Init:
    """`__init__` of a dataclass, until many objects are made or somebody looks it up: then it is compiled and put in
    this one's place."""

    __slots__ = ("cls", "frozen", "left", "plan")

    def __init__(self, cls: type, frozen: bool) -> None:
        self.cls, self.frozen = cls, frozen
        self.left = _FEW
        self.plan: tuple[list[str], dict[str, dataclasses.Field[Any]]] | None = None

    def __repr__(self) -> str:
        return f"<__init__ of {self.cls.__qualname__}, not compiled>"

    def __call__(self, instance: Any, /, *values: Any, **named: Any) -> None:
        """Make one of the first objects. Arguments that do not fit are left to the compiled method."""
        if self.plan is None:
            fields = dataclasses.fields(self.cls)
            names = [one.name for one in fields if one.init and not one.kw_only]
            self.plan = names, {one.name: one for one in fields}
        names, fields_by_name = self.plan
        given = dict(zip(names, values, strict=False))
        fits = len(values) <= len(names) and not given.keys() & named.keys()
        given |= named
        store = object.__setattr__ if self.frozen else setattr
        done = {}
        for name, one in fields_by_name.items():
            if one.init and name in given:
                done[name] = given.pop(name)
            elif one.default is not dataclasses.MISSING:
                done[name] = one.default
            elif one.default_factory is not dataclasses.MISSING:
                done[name] = one.default_factory()
            elif one.init:
                fits = False
        if not fits or given:
            self.left = 0
            getattr(self.cls, "__init__")(instance, *values, **named)  # noqa: B009  (mypy allows no call by name)
            return
        for name, value in done.items():
            store(instance, name, value)
        if hasattr(self.cls, "__post_init__"):
            instance.__post_init__()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is not None and self.left > 0:
            self.left -= 1
            return partial(self, instance)
        found = self.cls.__dict__["__init__"]
        if found is self:  # else another thread was faster
            found = _compiled_init(self.cls, self.frozen)
            setattr(self.cls, found.__name__, found)
        return found.__get__(instance, owner)


def _compiled_init(cls: type, frozen: bool) -> Any:
    """`__init__` with a parameter for each field, as Python's own has it."""
    known: dict[str, Any] = {"__name__": cls.__module__, "_set": object.__setattr__, "_absent": _ABSENT}
    plain, keywords, body = ["_self"], list[str](), list[str]()
    for number, one in enumerate(dataclasses.fields(cls)):
        value, default = one.name, ""
        if one.default is not dataclasses.MISSING:
            known[f"_default{number}"] = one.default
            default = f"=_default{number}"
        elif one.default_factory is not dataclasses.MISSING:
            known[f"_make{number}"] = one.default_factory
            default = "=_absent"
            value = f"_make{number}() if {one.name} is _absent else {one.name}"
        if one.init:
            (keywords if one.kw_only else plain).append(one.name + default)
        elif default:
            value = default[1:] if default != "=_absent" else f"_make{number}()"
        else:
            continue
        body.append(f"_set(_self, {one.name!r}, {value})" if frozen else f"_self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("_self.__post_init__()")
    parameters = ", ".join([*plain, "*", *keywords] if keywords else plain)
    exec("\n ".join([f"def __init__({parameters}):", *(body or ["pass"])]), known)
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {one.name: one.type for one in dataclasses.fields(cls) if one.init} | {"return": None}
    return made


class _Absent:
    """Stands for an argument that was not given, where each object gets a default of its own."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


@recursive_repr()
def fields_repr(self: Any) -> str:
    """`Name(field=value, ...)`: the `__repr__` of a dataclass that has none of its own."""
    values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({values})"


def _getter(names: list[str]) -> Getter:
    """A function that returns the tuple of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _equal(get: Getter) -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _ordered(get: Getter, compare: Callable[[Any, Any], Any]) -> Any:
    def ordered(self: Any, other: Any) -> Any:
        return compare(get(self), get(other)) if other.__class__ is self.__class__ else NotImplemented

    return ordered


def _hash(fields: Iterable[dataclasses.Field[Any]]) -> Any:
    get = _getter([one.name for one in fields if (one.compare if one.hash is None else one.hash)])

    def __hash__(self: Any) -> int:
        return hash(get(self))

    return __hash__


def _guards(cls: type[Any], names: frozenset[str]) -> tuple[Any, Any]:
    """`__setattr__` and `__delattr__` of a frozen class. A class derived from it may have attributes of its own."""

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _state(self: Any) -> list[Any]:
    """What a copy or a pickle of a frozen object with slots keeps."""
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
