"""Calls of OpenGL that are noted once and made again and again by machine code.

Python needs a microsecond or more for a call. That is not llvmpipe's time, and a frame may have ten thousand calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

_TYPES = {"i": "i32", "f": "float", "l": "i64", "p": "ptr"}


class Calls:
    """A list of calls under construction."""

    def __init__(self) -> None:
        library = ctypes.CDLL("libEGL.so.1")
        self._find = library.eglGetProcAddress
        self._find.restype, self._find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        self._lines: list[str] = []
        self._kept: list[Any] = []

    def add(self, name: str, types: str = "", *values: Any) -> None:
        """Note a call. types: a letter for each value: i (32 bits), l (64 bits), f (float), p (an array, or None)."""
        address = self._find(name.encode())
        assert address and len(types) == len(values), name
        words = ", ".join(f"{_TYPES[kind]} {self._value(kind, v)}" for kind, v in zip(types, values, strict=True))
        self._lines.append(f"call void inttoptr (i64 {address} to ptr)({words})")

    def _value(self, kind: str, value: Any) -> str:
        if kind == "f":
            bits = int(np.float64(np.float32(value)).view(np.uint64))
            return f"{bits:#018x}"
        if kind != "p":
            return str(int(value))
        if value is None:
            return "null"
        array = np.ascontiguousarray(value)
        self._kept.append(array)
        return f"inttoptr (i64 {array.ctypes.data} to ptr)"

    def made(self) -> Callable[[], None]:
        """A function that makes all calls in order."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        body = "\n".join(self._lines)
        text = f"define void @frame() {{\n{body}\nret void\n}}"
        target = llvm.Target.from_default_triple().create_target_machine(opt=0)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target)
        engine.finalize_object()
        function = ctypes.CFUNCTYPE(None)(engine.get_function_address("frame"))
        function.keeps = (engine, self._kept)  # type: ignore[attr-defined]
        return function
