"""Checks of this installation: versions, system, compiler, cache and a self-test, as a bug report needs them.

A check never fails itself: a package that is missing or does not load becomes a finding, not a traceback.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.lanes import Lang, Value

PACKAGES: Final = ("numpy", "llvmlite", "pillow", "zstandard", "rich", "click")
"""Required packages, by their names for pip."""

_FEATURES: Final = (
    "sse2", "sse4.2", "sse4_2", "avx", "avx2", "fma", "f16c", "bmi2", "avx512f", "neon", "asimd", "fp16",
)  # fmt: skip
"""CPU features that are named, of the hundred that LLVM lists."""

_OURS: Final = re.compile(r"[0-9a-f]{40}\.(o|index)|\.new-.*")
"""Names of the cache's files. The folder may also contain other files, if the user chose it."""

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. state: "note" is unusual but harmless, "problem" means that something will not work."""

    name: str
    state: State
    text: str
    hint: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def examine() -> list[Check]:
    """All checks, in order: later ones depend on earlier ones."""
    from pocketgpu import __version__

    place = str(Path(__file__).resolve().parents[1])
    checks = [Check("pocketgpu", "ok", f"{__version__} in {place}", data={"version": __version__, "path": place})]
    for name, check in (
        ("python", _python),
        ("system", _system),
        ("packages", _packages),
        ("compiler", _compiler),
        ("cache", _cache),
        ("kernels", _kernels),
        ("self-test", _self_test),
    ):
        try:
            checks.append(check())
        except Exception as error:  # a check that raises is a finding, too
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            checks.append(Check(name, "problem", what, "Install pocketgpu again, or report this line."))
    return checks


def _python() -> Check:
    version = platform.python_version()
    text = f"{version} ({platform.python_implementation()}, {sys.executable})"
    data = {"version": version, "implementation": platform.python_implementation(), "executable": sys.executable}
    return Check("python", "ok", text, data=data)


def _system() -> Check:
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    data = {"platform": platform.platform(), "machine": platform.machine(), "cores": cores, "usable_cores": usable}
    many = f"{usable} of {cores} cores" if usable != cores else f"{cores} cores"
    text = f"{data['platform']}, {data['machine']}, {many}"
    if sys.byteorder != "little":
        return Check("system", "problem", text, "Only little-endian machines are supported.", data)
    return Check("system", "ok", text, data=data)


def _packages() -> Check:
    from importlib import metadata

    versions: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    text = ", ".join(f"{name} {version or 'missing'}" for name, version in versions.items())
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return Check("packages", "problem", text, f"pip install {' '.join(missing)}", {"versions": versions})
    return Check("packages", "ok", text, data={"versions": versions})


def _compiler() -> Check:
    from pocketgpu.lanes import machine_code

    target = machine_code.target()
    have = set(target["features"])
    shown = [name for name in _FEATURES if name in have]
    text = f"LLVM {target['llvm']} for {target['cpu']} ({target['triple']}): {' '.join(shown) or 'no vector features'}"
    data = {key: target[key] for key in ("llvm", "cpu", "triple")} | {"features": sorted(have)}
    return Check("compiler", "ok", text, data=data)


@dataclass(frozen=True, slots=True)
class CacheState:
    """The folder of compiled kernels and of indexes of recordings. folder: None if caching is off. usable: whether
    anything is kept there. entries, bytes, limit: of kernels."""

    setting: str
    folder: Path | None
    exists: bool
    usable: bool
    reason: str
    entries: int
    bytes: int
    limit: int
    indexes: int = 0
    index_bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "folder": None if self.folder is None else str(self.folder),
            "exists": self.exists,
            "usable": self.usable,
            "reason": self.reason,
            "entries": self.entries,
            "bytes": self.bytes,
            "limit": self.limit,
            "indexes": self.indexes,
            "index_bytes": self.index_bytes,
        }


def cache_state() -> CacheState:
    """The state of the kernel cache; does not create its folder."""
    from pocketgpu.lanes import object_cache

    setting = os.environ.get("POCKETGPU_CACHE", "")
    limit = object_cache.LIMIT_BYTES
    if setting == "off":
        return CacheState(setting, None, False, False, "turned off by POCKETGPU_CACHE", 0, 0, limit)
    place = Path(setting).expanduser().absolute() if setting else object_cache.default_folder()
    if not place.is_dir():
        reason = "something else has its name" if place.exists() else ""
        return CacheState(setting, place, False, not reason, reason, 0, 0, limit)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        usable = object_cache.folder() is not None
    why = re.search(r"\((.+)\)", str(said[0].message)) if said else None
    reason = "" if usable else why[1] if why else "others own it or can write to it"
    kernels, indexes = (
        [size for _, size, _ in object_cache.entries(place, kind)] for kind in (object_cache.KERNEL, object_cache.INDEX)
    )
    return CacheState(
        setting, place, True, usable, reason, len(kernels), sum(kernels), limit, len(indexes), sum(indexes)
    )


def clear_cache() -> tuple[int, int]:
    """Remove all compiled kernels, indexes and leftovers of interrupted runs. Returns (files, bytes) removed.

    Only files with names of the cache are removed, and only in a folder that it would use.
    """
    state = cache_state()
    if state.folder is None or not state.exists or not state.usable:
        return 0, 0
    files = size = 0
    for path in state.folder.iterdir():
        if not _OURS.fullmatch(path.name):
            continue
        try:
            length = path.lstat().st_size
            path.unlink()
        except OSError:  # on Windows, another process may have it open
            continue
        files, size = files + 1, size + length
    return files, size


def _cache() -> Check:
    state = cache_state()
    data = state.to_dict()
    if state.folder is None:
        return Check("cache", "note", "off: code is compiled in every run", data=data)
    if not state.usable or not _writable(state.folder):
        hint = "Set POCKETGPU_CACHE to a folder of your own, or every run compiles its code again."
        reason = state.reason or "it cannot be written"
        return Check("cache", "problem", f"{state.folder} is not used: {reason}", hint, data)
    if not state.exists:
        return Check("cache", "ok", f"{state.folder} (made when first needed)", data=data)
    text = f"{state.folder}: {state.entries} kernels, {in_words(state.bytes)}"
    if state.indexes:
        text += f"; {counted(state.indexes, 'index', 'indexes')} of recordings, {in_words(state.index_bytes)}"
    return Check("cache", "ok", text, data=data)


def _kernels() -> Check:
    from pocketgpu.inspect import shipped

    state = shipped.state()
    if state.made == state.listed:
        return Check("kernels", "ok", state.text, data=state.to_dict())
    hint = "Others are compiled when they are first needed." + (
        " 'pocketgpu cache make' compiles them now." if state.target else ""
    )
    return Check("kernels", "note", state.text, hint, state.to_dict())


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder; for one that does not exist, in the nearest one above that does."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir():
        return False
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"0")
    except OSError:
        return False
    return True


def in_words(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / (1 << 20):.1f} MiB" if size >= 1 << 20 else f"{(size + 1023) >> 10} KiB"


def _self_test() -> Check:
    """One small kernel on both evaluators: integers, floats, a loop, a gather, a choice by lane."""
    from time import perf_counter

    import numpy as np

    results, seconds = {}, {}
    for evaluator in ("numpy", "llvm"):
        started = perf_counter()
        results[evaluator] = _run_probe(evaluator)
        seconds[evaluator] = perf_counter() - started
    milliseconds = {name: round(1000 * value, 1) for name, value in seconds.items()}
    different = int(np.count_nonzero(results["numpy"] != results["llvm"]))
    if different:
        text = f"machine code and NumPy disagree in {different} of {counted(len(results['llvm']), 'byte')}"
        hint = "Please report this with the output of 'pocketgpu doctor --json'."
        return Check("self-test", "problem", text, hint, {"milliseconds": milliseconds, "different": different})
    text = f"machine code and NumPy agree (compiled and ran in {milliseconds['llvm']} ms)"
    return Check("self-test", "ok", text, data={"milliseconds": milliseconds, "different": 0})


_INPUT, _OUTPUT, _COUNT = 4096, 8192, 256


def _run_probe(evaluator: str) -> Any:
    import numpy as np

    from pocketgpu.lanes import I32, Engine, kernel

    body: Callable[..., None] = _probe
    arena = np.zeros(16384, np.uint8)
    arena[_INPUT : _INPUT + 4 * _COUNT] = np.random.default_rng(1).integers(0, 256, 4 * _COUNT, np.uint8)
    Engine(arena, evaluator).get(kernel(count=I32)(body))(_COUNT)
    return arena[_OUTPUT : _OUTPUT + 8 * _COUNT].copy()


def _probe(k: Lang, count: Value) -> None:
    from pocketgpu.lanes import I32

    for start in k.range(0, count, k.lanes):
        index = k.iota() + start
        mask = index < count
        word = k.gather(I32, k.to_i64(index << 2) + _INPUT, mask)
        number = k.to_f32(word & 0xFFFF) / (k.to_f32((word >> 16) & 0xFF) + 0.5)
        total = k.var(number)
        for step in k.range(0, 5):
            total.value = k.sqrt(total.value * total.value + k.to_f32(step))
        mixed = k.select((word & 1) != 0, word.lsr(3) ^ (word * 77), word - 12345)
        k.scatter(I32, k.to_i64(index << 3) + _OUTPUT, k.bits_i32(total.value), mask)
        k.scatter(I32, k.to_i64(index << 3) + (_OUTPUT + 4), mixed, mask)
