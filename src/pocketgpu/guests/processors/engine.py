"""Unicorn's library, called without its Python classes: registers in one call, hooks in machine code.

Source: unicorn.h and uc_ctl's encoding in it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

from pocketgpu.errors import UsageError

_EVERYWHERE: Final = (ctypes.c_uint64(1), ctypes.c_uint64(0))
"""Begin after end: a hook for all addresses."""
_WRITE: Final = 1
_CPU_MODEL: Final = 7
_FORGET_RANGE, _FLUSH_CODE = 9, 10
_ARGUMENTS_AT, _DIRECTION_AT = 26, 30
_INVALID = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p
)

_ACCESS = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p
)


class Batch:
    """Registers that are read and written together. values: their numbers, as of the last `read`."""

    def __init__(self, library: Any, handle: Any, numbers: Sequence[int]) -> None:
        self._library, self._handle, self._count = library, handle, len(numbers)
        self._numbers = (ctypes.c_int * len(numbers))(*numbers)
        self.values = (ctypes.c_uint64 * len(numbers))()
        first = ctypes.addressof(self.values)
        self._places = (ctypes.c_void_p * len(numbers))(*(first + 8 * n for n in range(len(numbers))))

    def read(self) -> None:
        """Get all."""
        self._library.uc_reg_read_batch(self._handle, self._numbers, self._places, self._count)

    def write(self, count: int) -> None:
        """Set the first ones."""
        self._library.uc_reg_write_batch(self._handle, self._numbers, self._places, count)


class Engine:
    """One processor of the library.

    :raises UsageError: the library refuses something that it is always asked for.
    """

    def __init__(self, library: Any, architecture: int, mode: int) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._check(self._library.uc_open(architecture, mode, ctypes.byref(self._handle)))
        self._keep: dict[int, Any] = {}
        self._callbacks: list[Any] = []
        self._error_text = self._library.uc_strerror
        self._error_text.restype = ctypes.c_char_p

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.uc_close(self._handle)

    def _check(self, status: int) -> None:
        if status:
            raise UsageError(f"Unicorn refused: {self._library.uc_strerror(status)!r}")

    def set_model(self, model: int) -> None:
        """Which processor it is."""
        control = _CPU_MODEL | 1 << _ARGUMENTS_AT | _WRITE << _DIRECTION_AT
        self._check(self._library.uc_ctl(self._handle, ctypes.c_int(control), ctypes.c_int(model)))

    def forget_code(self) -> None:
        """Translate code again: its bytes may have changed without the processor."""
        control = _FLUSH_CODE | _WRITE << _DIRECTION_AT
        self._check(self._library.uc_ctl(self._handle, ctypes.c_int(control)))

    def forget_range(self, begin: int, end: int) -> None:
        """Translate the code of a range again; the processor must not run meanwhile."""
        control = _FORGET_RANGE | 2 << _ARGUMENTS_AT | _WRITE << _DIRECTION_AT
        place = ctypes.c_uint64(begin), ctypes.c_uint64(end)
        self._check(self._library.uc_ctl(self._handle, ctypes.c_int(control), *place))

    # -- registers --------------------------------------------------------------------------------------------------
    def batch(self, numbers: Sequence[int]) -> Batch:
        """Registers to be read together."""
        return Batch(self._library, self._handle, numbers)

    def read_wide(self, numbers: Sequence[int]) -> list[int]:
        """Registers of 128 bits."""
        values = (ctypes.c_uint64 * (2 * len(numbers)))()
        first = ctypes.addressof(values)
        places = (ctypes.c_void_p * len(numbers))(*(first + 16 * n for n in range(len(numbers))))
        self._library.uc_reg_read_batch(self._handle, (ctypes.c_int * len(numbers))(*numbers), places, len(numbers))
        return [values[n] | values[n + 1] << 64 for n in range(0, len(values), 2)]

    def read(self, register: int) -> int:
        """One register."""
        value = ctypes.c_uint64()
        self._check(self._library.uc_reg_read(self._handle, register, ctypes.byref(value)))
        return value.value

    def write(self, register: int, value: int) -> None:
        """Set one register."""
        self._check(self._library.uc_reg_write(self._handle, register, ctypes.byref(ctypes.c_uint64(value))))

    def save(self) -> bytes:
        """All registers."""
        size = self._library.uc_context_size(self._handle)
        context = ctypes.create_string_buffer(size)
        saved = ctypes.c_void_p()
        self._check(self._library.uc_context_alloc(self._handle, ctypes.byref(saved)))
        try:
            self._check(self._library.uc_context_save(self._handle, saved))
            ctypes.memmove(context, saved, size)
        finally:
            self._library.uc_context_free(saved)
        return context.raw

    def restore(self, context: bytes) -> None:
        """Set all registers."""
        self._check(self._library.uc_context_restore(self._handle, context))

    # -- memory -----------------------------------------------------------------------------------------------------
    def map(self, base: int, view: memoryview, rights: int) -> None:
        """Make host memory visible at an address."""
        holder = (ctypes.c_char * len(view)).from_buffer(view)
        self._keep[base] = holder
        place = ctypes.c_void_p(ctypes.addressof(holder))
        size = ctypes.c_size_t(len(view))
        self._check(self._library.uc_mem_map_ptr(self._handle, ctypes.c_uint64(base), size, rights, place))

    def unmap(self, base: int, size: int) -> None:
        """Take it away."""
        self._check(self._library.uc_mem_unmap(self._handle, ctypes.c_uint64(base), ctypes.c_size_t(size)))
        self._keep.pop(base, None)

    # -- running ----------------------------------------------------------------------------------------------------
    @property
    def stop_function(self) -> int:
        """The address of the function that stops a processor."""
        return ctypes.cast(self._library.uc_emu_stop, ctypes.c_void_p).value or 0

    def start(self, begin: int, end: int) -> str:
        """Run from an address until it is stopped; what was wrong, or nothing."""
        status = self._library.uc_emu_start(
            self._handle, ctypes.c_uint64(begin), ctypes.c_uint64(end), ctypes.c_uint64(0), ctypes.c_size_t(0)
        )
        return self._error_text(status).decode() if status else ""

    @property
    def write_function(self) -> int:
        """The address of the function that sets a register."""
        return ctypes.cast(self._library.uc_reg_write, ctypes.c_void_p).value or 0

    @property
    def read_function(self) -> int:
        """The address of the function that reads memory."""
        return ctypes.cast(self._library.uc_mem_read, ctypes.c_void_p).value or 0

    def add_native_hook(
        self, kind: int, address: int, state: ctypes.Structure, instruction: int | None = None
    ) -> int:  # fmt: skip
        """A hook in machine code; it gets the address of `state`. instruction: where the kind is of instructions. The
        number of the hook."""
        more = () if instruction is None else (ctypes.c_int(instruction),)
        return self._hook(kind, ctypes.c_void_p(address), ctypes.cast(ctypes.byref(state), ctypes.c_void_p), more=more)

    def on_invalid(self, kind: int, function: Callable[[int, int], None]) -> None:
        """Call a function with kind and address of an access that is not possible; the processor stops then."""

        def called(engine: Any, access: int, address: int, size: int, value: int, data: Any) -> bool:
            function(access, address)
            return False

        callback = _INVALID(called)
        self._callbacks.append(callback)
        self._hook(kind, ctypes.cast(callback, ctypes.c_void_p), ctypes.c_void_p())

    def on_write(self, kind: int, begin: int, end: int, function: Callable[[int], None]) -> int:
        """Call a function with the address of each store to a range; the number of the hook."""

        def called(engine: Any, access: int, address: int, size: int, value: int, data: Any) -> None:
            function(address)

        callback = _ACCESS(called)
        self._callbacks.append(callback)
        place = ctypes.c_uint64(begin), ctypes.c_uint64(end - 1)
        return self._hook(kind, ctypes.cast(callback, ctypes.c_void_p), ctypes.c_void_p(), place)

    def remove_hook(self, number: int) -> None:
        """Take a hook away."""
        self._check(self._library.uc_hook_del(self._handle, ctypes.c_size_t(number)))

    def _hook(
        self, kind: int, function: ctypes.c_void_p, data: ctypes.c_void_p,
        place: tuple[ctypes.c_uint64, ctypes.c_uint64] = _EVERYWHERE, more: tuple[ctypes.c_int, ...] = (),
    ) -> int:  # fmt: skip
        handle = ctypes.c_size_t()
        add = self._library.uc_hook_add
        self._check(add(self._handle, ctypes.byref(handle), ctypes.c_int(kind), function, data, *place, *more))
        return handle.value
