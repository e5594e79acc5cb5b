"""The recorder in C, built with the system's compiler: programs, and a library to call from Python."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDER = ROOT / "recorder"
HERE = Path(__file__).parent
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow")
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiler(language: str = "c") -> str:
    """The system's compiler, or that of the environment. Skips the test if there is none."""
    names = (os.environ.get("CC"), "cc", "gcc", "clang") if language == "c" else (os.environ.get("CXX"), "c++", "g++")
    for name in names:
        if name and (found := shutil.which(name)):
            return found
    pytest.skip(f"no compiler for {language}")


def build(target: Path, source: Path, *options: str, language: str = "c") -> Path:
    """Compile and link one file with all warnings as errors."""
    standard = "-std=c99" if language == "c" else "-std=c++11"
    command = [compiler(language), standard, *STRICT, "-O1", *options, f"-I{RECORDER}", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def sanitizers(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Options for the address and undefined behaviour sanitizers; skips where programs with them do not run."""
    folder = tmp_path_factory.mktemp("sanitizers")
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    program = folder / "empty"
    command = [compiler(), *SANITIZERS, "-o", str(program), str(source)]
    if subprocess.run(command, capture_output=True).returncode or subprocess.run([program]).returncode:
        pytest.skip("the compiler has no sanitizers here")
    return SANITIZERS


Recording = Callable[..., Path]


@pytest.fixture(scope="session")
def record(sanitizers: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """record("3ds", "gx") runs an example under the sanitizers and returns the new file."""
    folder = tmp_path_factory.mktemp("examples")
    count = 0

    def run(name: str, *arguments: str) -> Path:
        nonlocal count
        program = folder / name
        if not program.exists():
            build(program, RECORDER / f"example_{name}.c", *sanitizers)
        count += 1
        path = folder / f"{name}{count}.pgc"
        done = subprocess.run([program, path, *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return path

    return run


class Surface(ctypes.Structure):
    """pgr_surface."""

    _fields_ = (
        ("gpu_address", ctypes.c_uint64),
        ("has_handle", ctypes.c_int),
        ("handle", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("format", ctypes.c_int),
        ("block_linear", ctypes.c_int),
        ("block_height_log2", ctypes.c_uint),
        ("stride", ctypes.c_uint32),
        ("transform", ctypes.c_uint),
        ("has_fence", ctypes.c_int),
        ("fence_syncpoint", ctypes.c_uint32),
        ("fence_value", ctypes.c_uint32),
    )


OK, NO_MEMORY, IO, BAD_CALL, TOO_LONG = range(5)
N3DS, SWITCH = 1, 2


class Recorder:
    """The calls of the header without their prefix, on one recorder whose file is `data`.

    limit: bytes that the file can take, as a full disk.
    """

    def __init__(self, library: ctypes.CDLL, console: int, name: bytes | None = b"test", limit: int = 1 << 40) -> None:
        self._library = library
        self.data = bytearray()

        def take(_: Any, data: int, size: int) -> int:
            size = min(size, limit - len(self.data))
            self.data += ctypes.string_at(data, size)
            return size

        sink = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        self._sink = sink(take)
        self._pointer = ctypes.c_void_p(library.pgr_open_sink(self._sink, None, console, name))

    def __getattr__(self, name: str) -> Callable[..., int]:
        function = getattr(self._library, f"pgr_{name}")
        return lambda *arguments: function(self._pointer, *map(argument, arguments))


def argument(value: Any) -> Any:
    """Numbers as 64 bits, lists as words, structures by reference."""
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    if isinstance(value, list):
        return (ctypes.c_uint32 * len(value))(*value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, Surface):
        return ctypes.byref(value)
    return value


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The header as a shared library."""
    path = tmp_path_factory.mktemp("library") / "recorder.so"
    source = path.with_suffix(".c")
    source.write_text('#define POCKETGPU_RECORDER_IMPLEMENTATION\n#include "pocketgpu_recorder.h"\n')
    found = ctypes.CDLL(str(build(path, source, "-shared", "-fPIC")))
    found.pgr_open_sink.restype = found.pgr_open.restype = ctypes.c_void_p
    found.pgr_status_text.restype = ctypes.c_char_p
    return found


@pytest.fixture
def recorder(library: ctypes.CDLL) -> Callable[..., Recorder]:
    """recorder(N3DS) opens one."""
    return lambda console, **options: Recorder(library, console, **options)
