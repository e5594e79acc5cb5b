"""What the Python objects of a guest hold at one moment: taken from them, and put back into the same objects.

    state = State([console], outside=[console.machine, processor])
    ...
    state.restore()

Everything that is reached from the roots is kept, whatever class it is of and whatever attributes it has, so a new
attribute of a service need not be named anywhere. Objects stay the same ones: what refers to a thread or to an event
still does. Something of a kind that cannot be kept, such as an iterator, is an error at once.

A class may have `outside_state`, the names of attributes that are no state of the guest, such as its listeners. A class
with `fixed_state = True` has objects that do not change once they are there.
"""

from __future__ import annotations

import ctypes
import io
import mmap
import re
import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import PocketGPUError
from pocketgpu.late_dataclass import dataclass

_ATOMS: Final = (
    int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis), type(NotImplemented), type, Enum,
    PurePath, ModuleType, BuiltinFunctionType, re.Pattern, struct.Struct, np.generic, np.dtype, Exception,
)  # fmt: skip
"""They never change, and hold nothing that does."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_MISSING: Final = object()
_FACTS: Final = "pocketgpu.facts."
"""Objects of its modules are constants."""
_OTHERS: Final = ("builtins", "_thread", "itertools", "weakref", "ctypes", "random", "_random")
"""Modules whose objects, but for those named above, cannot be kept: iterators, locks, generators of numbers."""


class UnknownStateError(PocketGPUError):
    """An object of a guest is of a kind that cannot be kept."""


@dataclass(frozen=True, slots=True)
class _Attributes:
    """The attributes of an object."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """A file of the host that was open."""

    kind: type[io.FileIO]
    path: str
    mode: str


class State:
    """The state of all objects that are reached from some roots.

    outside: objects that are not looked at: a machine, a processor. views: memory that was found, by its address on the
    host; its bytes are somebody else's to keep.

    :raises UnknownStateError: something cannot be kept.
    """

    def __init__(self, roots: Iterable[object], outside: Iterable[object] = ()) -> None:
        self.views: dict[int, memoryview] = {}
        self._kept: list[tuple[Any, Any]] = []
        self._hold: list[object] = []
        self._seen = {id(one) for one in outside}
        self._leaves: dict[type, bool] = {}
        self._names: dict[type, tuple[frozenset[str], tuple[str, ...]]] = {}
        self._plain: set[type] = set()  # kinds that have attributes and nothing else
        self._todo = [(one, type(one).__name__) for one in roots]
        while self._todo:
            self._visit(*self._todo.pop())

    def __repr__(self) -> str:
        return f"<State of {len(self._kept)} objects>"

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def kept(self) -> Iterator[tuple[object, object]]:
        """The objects, and a copy of what each holds."""
        for one, value in self._kept:
            yield one, value.values if isinstance(value, _Attributes) else value

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        buffers = sum(len(value) for _, value in self._kept if isinstance(value, bytes))
        return 200 * len(self._kept) + buffers

    # -- taking -----------------------------------------------------------------------------------------------------
    def _is_leaf(self, kind: type) -> bool:
        known = self._leaves.get(kind)
        if known is None:
            fixed = bool(getattr(kind, "fixed_state", False)) or kind.__module__.startswith(_FACTS)
            known = self._leaves[kind] = fixed or issubclass(kind, _ATOMS)
        return known

    def _push(self, values: Iterable[object], place: str) -> None:
        for one in values:
            if self._is_new(one):
                self._todo.append((one, place))

    def _is_new(self, one: object) -> bool:
        """Whether it has to be visited. Most of what is found are numbers and texts."""
        leaf = self._leaves.get(type(one))
        return not (self._is_leaf(type(one)) if leaf is None else leaf) and id(one) not in self._seen

    def _visit(self, one: Any, place: str) -> None:
        if not self._is_new(one):
            return
        self._seen.add(id(one))
        self._hold.append(one)  # nothing else gets its number
        if type(one) in self._plain:
            self._object(one, place)
            return
        if isinstance(one, list | set | deque):
            self._keep(one, type(one)(one) if type(one) in (list, set) else list(one), one, place)
        elif isinstance(one, dict):
            self._keep(one, dict(one), [*one.keys(), *one.values()], place)
        elif isinstance(one, bytearray):
            self._kept.append((one, bytes(one)))
        elif isinstance(one, tuple | frozenset):
            self._push(one, place)
        elif isinstance(one, MappingProxyType):
            self._push([*one.keys(), *one.values()], place)
        elif isinstance(one, memoryview | mmap.mmap | np.ndarray):
            self._memory(one)
        elif isinstance(one, MethodType):
            self._push((one.__self__,), place)
        elif isinstance(one, partial):
            self._push((one.func, one.args, one.keywords), place)
        elif isinstance(one, FunctionType):
            cells = [cell.cell_contents for cell in one.__closure__ or ()]
            self._push([*cells, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()], place)
        elif isinstance(one, io.FileIO):
            if not one.closed:
                self._kept.append((one, _OpenFile(type(one), str(one.name), one.mode)))
        elif isinstance(one, ctypes.Structure | io.IOBase) or type(one).__module__ in _OTHERS:
            if type(one) is not object:
                raise UnknownStateError(f"a {type(one).__name__} cannot be kept", location=place)
        else:
            self._plain.add(type(one))
            self._object(one, place)
            return
        if type(one) not in _PLAIN and hasattr(one, "__dict__"):
            self._object(one, place)

    def _keep(self, one: object, value: object, parts: Iterable[object], place: str) -> None:
        self._kept.append((one, value))
        self._push(parts, place)

    def _object(self, one: object, place: str) -> None:
        values = self._attributes(one)
        self._kept.append((one, _Attributes(values)))
        for name, value in values.items():
            if self._is_new(value):
                self._todo.append((value, f"{place}.{name}"))

    def _attributes(self, one: object) -> dict[str, Any]:
        """Its attributes, but for those outside."""
        kind = type(one)
        known = self._names.get(kind)
        if known is None:
            known = self._names[kind] = getattr(kind, "outside_state", frozenset()), _slots(kind)
        outside, slots = known
        own = getattr(one, "__dict__", _NOTHING)
        values = {name: value for name, value in own.items() if name not in outside} if outside else dict(own)
        for name in slots:
            value = getattr(one, name, _MISSING)
            if value is not _MISSING and name not in outside:
                values[name] = value
        return values

    def _memory(self, one: memoryview | mmap.mmap | NDArray[Any]) -> None:
        view = one.data if isinstance(one, np.ndarray) else memoryview(one)
        if isinstance(one, np.ndarray) and not view.c_contiguous:
            self._kept.append((one, one.copy()))
        elif view.nbytes and not view.readonly:
            flat = view.cast("B")
            self.views[np.frombuffer(flat, np.uint8).ctypes.data] = flat

    # -- putting back -----------------------------------------------------------------------------------------------
    def restore(self) -> None:
        """Put everything back. Memory in `views` stays as it is.

        :raises UnknownStateError: a file of the host that was open is not there any more.
        """
        files = {id(one): _reopened(value) for one, value in self._kept if isinstance(value, _OpenFile) and one.closed}
        for one, value in self._kept:
            if isinstance(value, _Attributes):
                _set_attributes(one, {name: files.get(id(it), it) for name, it in value.values.items()})
            elif isinstance(one, list | bytearray):
                one[:] = value
            elif isinstance(one, np.ndarray):
                one[...] = value
            elif isinstance(one, dict | set):
                one.clear()
                one.update(value)
            elif isinstance(one, deque):
                one.clear()
                one.extend(value)


_PLAIN: Final = frozenset({
    list, set, dict, deque, bytearray, tuple, frozenset, memoryview, mmap.mmap, np.ndarray, FunctionType, MethodType,
    partial, MappingProxyType, object, io.FileIO,
})  # fmt: skip
"""Kinds without attributes that change."""


def _slots(kind: type) -> tuple[str, ...]:
    """Names of attributes that have a place of their own in an object."""
    found: list[str] = []
    for one in kind.__mro__:
        slots = one.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


def _set_attributes(one: object, values: Mapping[str, Any]) -> None:
    outside: frozenset[str] = getattr(type(one), "outside_state", frozenset())
    own = getattr(one, "__dict__", None)
    if own is not None:
        for name in [name for name in own if name not in values and name not in outside]:
            del own[name]  # it came later, such as what is computed once
    for name, value in values.items():
        if own is not None and name in own:
            own[name] = value
        else:
            object.__setattr__(one, name, value)


def _reopened(file: _OpenFile) -> io.FileIO:
    try:
        return file.kind(file.path, "r+" if "+" in file.mode else "r")
    except OSError as error:
        raise UnknownStateError(
            f"a file that was open cannot be opened again: {error.strerror}", location=file.path
        ) from None
