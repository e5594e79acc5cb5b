"""Kernels and engines: a kernel is the description, an engine runs it on one arena.

    @kernel(count=I32, value=I32)
    def fill(k, count, value): ...

    run = Engine(arena).get(fill)     # machine code; Engine(arena, "numpy") gives the oracle
    run(1000, 7)

Keyword-only parameters of the body are *static*: each combination of their values is a specialisation with code of
its own (`engine.get(fill, width=16)`). Static values must be hashable, because they name the specialisation.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pocketgpu.lanes import archive, background, machine_code, object_cache, recipes
from pocketgpu.lanes.archive import Found, Image
from pocketgpu.lanes.values import F32, I32, I64, LaneError, Type, Value

if TYPE_CHECKING:
    from pocketgpu.lanes.numpy_eval import ArenaViews, NumpyLang

_CTYPES: dict[str, Any] = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}
_LETTERS = {"i32": "i", "i64": "l", "f32": "f"}
_BY_LETTER = {letter: _CTYPES[name] for name, letter in _LETTERS.items()}
NUMPY_LANES = 64
ChooseLanes = Callable[["ArenaViews", Sequence[Any], dict[str, Any]], int]
# Machine code does not depend on the arena: one process traces and loads each specialisation once.
_addresses: dict[Any, Found] = {}
_ordered: set[Any] = set()
"""Specialisations that were asked for in the background."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ordered.clear)  # what makes them is in the parent


def drop_orders() -> None:
    """Drop what was asked for in the background and is not begun (for tests): it can be asked for again."""
    background.drop()
    _ordered.clear()


class Kernel:
    """A named body and the types of its scalar parameters."""

    def __init__(self, body: Callable[..., None], params: dict[str, Type], lanes: int | None) -> None:
        name = body.__name__  # it becomes a symbol
        self.name = name if name.isascii() and name.isidentifier() else re.sub(r"[^A-Za-z0-9_]", "_", name)
        self.body, self.params, self.lanes = body, params, lanes
        self.home = (body.__module__, body.__qualname__)
        self.numpy_lanes: ChooseLanes = lambda memory, args, static: lanes or NUMPY_LANES
        if lanes is not None and lanes < 1:
            raise LaneError(f"kernel {self.name} cannot have {lanes} lanes")
        self.__doc__ = body.__doc__
        for p, t in params.items():
            if t not in (I32, I64, F32):
                raise LaneError(f"parameter {p} of kernel {self.name} must be i32, i64 or f32, not {t}")

    @property
    def types(self) -> str:
        """The types of the parameters, a letter each."""
        return "".join(_LETTERS[type.name] for type in self.params.values())

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(f'{p}: {t}' for p, t in self.params.items())})>"

    def trace(self, lanes: int, static: dict[str, Any], origins: dict[str, str] | None = None) -> str:
        """LLVM IR text of one specialisation; `origins` gets the kernel line of each IR value."""
        from pocketgpu.lanes.llvm_eval import LLVMLang  # with code that was made before, nothing is traced

        k = LLVMLang(
            self.name, list(self.params.values()), lanes, origins,
            machine_code.fast_gather(lanes), machine_code.fused(), machine_code.best_lanes(), machine_code.halves(),
        )  # fmt: skip
        self.body(k, *k.args(), **static)
        return k.text()

    def explain(self, lanes: int, static: dict[str, Any], error: Exception) -> LaneError:
        """What LLVM found wrong with the trace, in terms of the kernel's lines."""
        origins: dict[str, str] = {}
        self.trace(lanes, static, origins)
        names = dict.fromkeys(re.findall(r"%v\d+", str(error)))
        lines = [f"  {name} is from {origins[name]}" for name in names if name in origins]
        hint = "a value made inside a when, range, loop or case does not exist outside of it; carry it in a k.var"
        return LaneError("\n".join([f"LLVM refuses kernel {self.name}: {hint}", *lines, str(error).strip()]))


@cache
def _signature(types: str) -> Any:
    """The ctypes function type of machine code: the arena, then the parameters (`Kernel.types`)."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, *(_BY_LETTER[letter] for letter in types))


class _LateKernel(Kernel):
    """See `late`."""

    def __init__(self, module: str, name: str) -> None:
        self.name, self.home = name, (module, name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        real = vars(getattr(import_module(self.home[0]), self.home[1]))
        for one in ("body", "params", "lanes", "numpy_lanes"):
            setattr(self, one, real[one])
        return vars(self)[name]


_late: dict[tuple[str, str], Kernel] = {}


def late(module: str, name: str) -> Kernel:
    """A kernel of a module that is imported when the kernel is traced, or run by NumPy.

    With code that was made ahead of time this never happens. So a program that only runs kernels starts without the
    modules that describe them.
    """
    return _late.setdefault((module, name), _LateKernel(module, name))


def kernel(lanes: int | None = None, **params: Type) -> Callable[[Callable[..., None]], Kernel]:
    """Make a kernel of a body `f(k, *scalars, **static)`. `lanes` fixes the lane count for both evaluators."""
    return lambda body: Kernel(body, params, lanes)


def numpy_lanes(choose: ChooseLanes) -> Callable[[Kernel], Kernel]:
    """Have a kernel's lane count chosen for each run of the NumPy evaluator, from memory, arguments and static values:
    more lanes cost it hardly more time."""

    def set_lanes(kernel: Kernel) -> Kernel:
        kernel.numpy_lanes = choose
        return kernel

    return set_lanes


def run_once(
    kernel: Kernel, arena: np.ndarray[Any, Any], lanes: int, /, *args: Any,
    functions: dict[int, Callable[..., None]] | None = None, **static: Any,
) -> None:  # fmt: skip
    """Run a kernel once by the NumPy evaluator, without an engine.

    Static values may be objects that observe the run, because nothing is cached.

    :param lanes: lane count of kernels that do not fix one.
    :param functions: what handles of `Lang.invoke` call; they get raw scalars.
    """
    from pocketgpu.lanes.numpy_eval import ArenaViews, NumpyLang

    _evaluate(kernel, NumpyLang(ArenaViews(arena), kernel.lanes or lanes, functions or {}), args, static)


def _evaluate(kernel: Kernel, k: NumpyLang, args: Sequence[Any], static: dict[str, Any]) -> None:
    """Run a kernel by the NumPy evaluator. Arguments wrap or round, as a machine call would have it."""
    if len(args) != len(kernel.params):
        raise TypeError(f"{kernel} called with {len(args)} arguments")
    with np.errstate(all="ignore"):
        kernel.body(k, *(k.const(a, t) for a, t in zip(args, kernel.params.values(), strict=True)), **static)
    k.check_closed()


def _shipped(kernel: Kernel, static: dict[str, Any]) -> Found | None:
    """A specialisation that was made ahead of time."""
    recipe = recipes.of(kernel, static, machine_code.stamp(compiler=False))
    return archive.find(recipes.room(kernel), recipe) if recipe else None


def is_shipped(kernel: Kernel, static: dict[str, Any]) -> bool:
    """Whether a specialisation was made ahead of time."""
    return _shipped(kernel, static) is not None


def recipe_of(kernel: Kernel, static: dict[str, Any]) -> str:
    """The name of a specialisation that is made ahead of time for `target.host()`.

    :raises LaneError: it can have none.
    """
    recipe = recipes.of(kernel, static, machine_code.stamp(compiler=False))
    if recipe is None:
        raise LaneError(f"{kernel} is not part of the package, or its static values have no names")
    return recipe


def make_image(kernel: Kernel, static: dict[str, Any]) -> tuple[str, Image]:
    """A specialisation made for `target.host()`, which must be a level: its recipe and its image.

    :raises LaneError: it can have no recipe, or it has more parameters than the file has room for.
    """
    recipe, lanes = recipe_of(kernel, static), kernel.lanes or machine_code.best_lanes()
    if len(kernel.types) > archive.MOST_PARAMETERS:
        raise LaneError(f"{kernel} has more than {archive.MOST_PARAMETERS} parameters")
    return recipe, Image(kernel.types, machine_code.image_of(kernel.trace(lanes, static)))


def _made(kernel: Kernel, static: dict[str, Any]) -> Found:
    """A specialisation's machine code: found by its recipe, or else made by tracing the kernel."""
    found = _shipped(kernel, static)
    if found is not None:
        return found
    recipe = recipes.of(kernel, static, machine_code.stamp())
    found = _linked(kernel, recipe)
    if found is None:
        lanes = kernel.lanes or machine_code.best_lanes()
        address, key = machine_code.load(kernel.name, kernel.trace(lanes, static))
        found = Found(kernel.types, address)
        if recipe:
            recipes.remember(recipe, recipes.Link(key, kernel.types))
    return found


def _linked(kernel: Kernel, recipe: str | None) -> Found | None:
    """A specialisation of a recipe, out of the disk cache."""
    link = recipes.find(recipe) if recipe else None
    address = machine_code.known(kernel.name, link.key) if link else None
    return None if link is None or address is None else Found(link.types, address)


def _kept(kernel: Kernel, static: dict[str, Any]) -> Found | None:
    """A specialisation that the disk cache has."""
    return _linked(kernel, recipes.of(kernel, static, machine_code.stamp()))


def make_entry(kernel: Kernel, static: dict[str, Any], writing: AbstractContextManager[Any]) -> bool:
    """Make a specialisation for the disk cache only, inside `writing` where it is stored. False: it can't be kept."""
    lanes = kernel.lanes or machine_code.best_lanes()
    recipe = recipes.of(kernel, static, machine_code.stamp())
    if recipe is None or object_cache.folder() is None:
        return False
    link = recipes.find(recipe)
    if link is None or object_cache.read(link.key) is None:
        key, data = machine_code.entry(kernel.name, kernel.trace(lanes, static))
        with writing:
            object_cache.write(key, data)
            recipes.remember(recipe, recipes.Link(key, kernel.types))
    return True


def _is_named(kernel: Kernel) -> bool:
    """Whether another process finds a kernel by module and name."""
    module, name = kernel.home
    return kernel.home in _late or getattr(sys.modules.get(module), name, None) is kernel


class _Key:
    """Names a specialisation in dictionaries. Its hash is computed once: a state has a hundred words."""

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts, self._hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.parts == other.parts


class Engine:
    """Runs kernels on one arena (a flat uint8 array whose first page stays zero), with either evaluator.

    on_probe: called with each named intermediate value (`Lang.probe`) that the NumPy evaluator computes.
    """

    def __init__(
        self, arena: np.ndarray[Any, Any], evaluator: str = "llvm", on_probe: Callable[[str, Value], None] | None = None
    ) -> None:
        if evaluator not in ("llvm", "numpy"):
            raise ValueError(f"evaluator must be 'llvm' or 'numpy', not {evaluator!r}")
        if arena.dtype != np.uint8 or arena.ndim != 1 or not arena.flags.c_contiguous or not arena.flags.writeable:
            raise ValueError("the arena must be a flat, writable uint8 array")
        if arena.ctypes.data % 8 or len(arena) % 8:
            raise ValueError("the arena must begin and end at a multiple of 8 bytes")
        if len(arena) > 0x7FFFFFFF:
            raise ValueError("the arena must be smaller than 2 GiB")
        self.evaluator = evaluator
        self._arena = arena
        self._base = arena.ctypes.data_as(ctypes.c_void_p)  # this pointer keeps the arena alive
        self._views: ArenaViews | None = None
        if evaluator == "numpy":
            from pocketgpu.lanes.numpy_eval import ArenaViews  # machine code runs without it

            self._views = ArenaViews(arena)
        self._on_probe = on_probe
        self._functions: dict[int, Callable[..., None]] = {}
        self._got: dict[Any, Callable[..., None]] = {}
        self._handles: dict[Any, int] = {}
        self._callbacks: list[Any] = []

    def __repr__(self) -> str:
        return f"<{self.evaluator} engine on {len(self._arena) >> 20} MiB>"

    @staticmethod
    def _key(kernel: Kernel, static: dict[str, Any]) -> Any:
        values = tuple(static.values())
        kernel = _late.get(kernel.home, kernel)
        return _Key((kernel, tuple(static), values, tuple(map(type, values))))  # 1, 1.0 and True are equal

    def get(self, kernel: Kernel, /, **static: Any) -> Callable[..., None]:
        """A callable `run(*scalars)` for one specialisation. Machine code runs without the GIL."""
        return self._get(kernel, static, self._key(kernel, static))

    def _get(self, kernel: Kernel, static: dict[str, Any], key: Any) -> Callable[..., None]:
        run = self._got.get(key)
        if run is None:
            with machine_code.lock:
                run = self._got.get(key)
                if run is None:
                    make = self._numpy if self.evaluator == "numpy" else self._llvm
                    run = self._got[key] = make(kernel, static, key)
        return run

    def handle(self, kernel: Kernel, /, **static: Any) -> int:
        """The run-time handle of a specialisation, for `Lang.invoke` in another kernel."""
        key = self._key(kernel, static)
        self._get(kernel, static, key)
        return self._handles[key]

    def callback(self, function: Callable[..., None], *types: Type) -> int:
        """A handle by which kernels can call a Python function with scalars of these types; it must not raise.

        It lives as long as the engine.
        """
        if self.evaluator == "numpy":
            handle = len(self._functions) + 1
            self._functions[handle] = lambda *args: function(*(a.item() for a in args))
            return handle
        made = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *(_CTYPES[t.name] for t in types))(
            lambda _, *args: function(*args)
        )
        self._callbacks.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value or 0

    def has(self, kernel: Kernel, /, **static: Any) -> bool:
        """Whether a specialisation needs no compiling: it is loaded (by any engine) or in the disk cache."""
        key = self._key(kernel, static)
        if key in self._got or self.evaluator == "numpy" or key in _addresses:
            return True
        if key in _ordered:
            return False
        if _shipped(kernel, static) is not None:
            return True
        recipe = recipes.of(kernel, static, machine_code.stamp())
        known = recipes.find(recipe) if recipe else None
        return known is not None and object_cache.read(known.key) is not None

    def loaded(self, kernel: Kernel, /, **static: Any) -> bool:
        """Whether a specialisation is loaded."""
        key = self._key(kernel, static)
        return key in self._got or key in _addresses

    def later(self, kernel: Kernel, /, **static: Any) -> None:
        """Make a specialisation in the background; `loaded` is true when it is done. Code that is there is loaded at
        once."""
        key = self._key(kernel, static)
        if self.evaluator != "llvm" or key in _ordered:
            return
        _ordered.add(key)

        def take() -> bool:
            found = _shipped(kernel, static) or _kept(kernel, static)
            if found is not None:
                _addresses[key] = found
            return found is not None

        def make() -> None:
            _addresses[key] = _made(kernel, static)

        if key in _addresses or take():
            return
        if object_cache.folder() is None or recipes.of(kernel, static, b"") is None or not _is_named(kernel):
            background.submit(make)
        else:
            background.order((*kernel.home, static), take, make)

    def _numpy(self, kernel: Kernel, static: dict[str, Any], key: Any) -> Callable[..., None]:
        assert self._views is not None
        from pocketgpu.lanes.numpy_eval import NumpyLang

        views, functions = self._views, self._functions

        def run(*args: Any) -> None:
            lanes = kernel.numpy_lanes(views, args, static)
            _evaluate(kernel, NumpyLang(views, lanes, functions, self._on_probe), args, static)

        self._handles[key] = len(self._functions) + 1
        self._functions[self._handles[key]] = run
        return run

    def _llvm(self, kernel: Kernel, static: dict[str, Any], key: Any) -> Callable[..., None]:
        found = _addresses.get(key)
        if found is None:
            try:
                found = _addresses[key] = _made(kernel, static)
            except machine_code.RefusedError as error:
                raise kernel.explain(kernel.lanes or machine_code.best_lanes(), static, error) from None
        types, address = found
        count = len(types)
        self._handles[key] = address
        function = _signature(types)(address)
        base = self._base

        def run(*args: Any) -> None:
            if len(args) != count:  # ctypes would let further arguments pass
                raise TypeError(f"{kernel} called with {len(args)} arguments")
            function(base, *args)

        return run
