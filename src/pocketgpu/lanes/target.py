"""What machine code is made for: a level of the x86-64 family on Linux, this very processor elsewhere.

A level (x86-64-v2, -v3, -v4, defined by the x86-64 psABI) is a set of instructions that many processors have. Code for
a level can be made on one computer and run on another one: so it can come with the package, and workers can share it.
It is as quick as code for one model: the minima of seven recordings differ by less than 4 % both ways (2026-11-23,
Emerald Rapids). `POCKETGPU_LEVEL` chooses a lower level than the processor's, for measurements and comparisons.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

LEVELS: Final = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2",
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
"""What each level adds to the one before, by the names of Linux in /proc/cpuinfo."""
SETTING: Final = "POCKETGPU_LEVEL"
_LANES: Final = {"x86-64-v4": 16}
_chosen: list[Target] = []


@dataclass(frozen=True, slots=True)
class Target:
    """cpu, features: as LLVM names them. level: a key of LEVELS, or "" where code is made for this processor alone.

    lanes: what kernels get here unless they fix their number. Results never depend on it, speed does: eight are best
    with AVX2, sixteen with AVX-512 (one and a half times as fast there). fused: whether the code may multiply and add
    with one rounding by an instruction. gathers: whether sixteen lanes are gathered by one instruction.
    """

    cpu: str
    features: str
    level: str
    lanes: int
    fused: bool
    gathers: bool

    @staticmethod
    def of_level(level: str, gathers: bool = False) -> Target:
        """What code for a level may use."""
        return Target(level, "", level, _LANES.get(level, 8), level != "x86-64-v2", gathers)

    @property
    def halves(self) -> bool:
        """Whether the code may convert to floats of 16 bits by an instruction; every 64-bit ARM processor has one."""
        return "f16c" in self.instructions or "neon" in self.instructions

    @property
    def name(self) -> str:
        """A short name, which tells targets of levels apart."""
        return f"{self.cpu}-gathers" if self.gathers else self.cpu

    @property
    def instructions(self) -> list[str]:
        """Names of the extensions that the code may use."""
        if not self.level:
            return sorted(word[1:] for word in self.features.split(",") if word.startswith("+"))
        names = list(LEVELS)
        return sorted(" ".join(LEVELS[one] for one in names[: names.index(self.level) + 1]).split())

    def __repr__(self) -> str:
        return f"<target {self.name}, {self.lanes} lanes>"


def _report() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def level_of(report: str) -> str:
    """The highest level that a processor has, by the text of /proc/cpuinfo; "" if it has none."""
    have = set(report.partition("\nflags")[2].partition("\n")[0].split())
    found = ""
    for level, names in LEVELS.items():
        if not have.issuperset(names.split()):
            break
        found = level
    return found


@cache
def _level() -> str:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return ""
    highest = level_of(_report())
    wanted = os.environ.get(SETTING, "")
    if not wanted:
        return highest
    known = list(LEVELS)
    if wanted not in known or not highest or known.index(wanted) > known.index(highest):
        can = known[: known.index(highest) + 1] if highest else []
        raise UsageError(f"{SETTING} is {wanted!r}; this processor runs {' '.join(can) or 'no level'}")
    return wanted


@cache
def _host() -> Target:
    level = _level()
    if level:
        return Target.of_level(level, _LANES.get(level, 8) >= 16 and _gathers_quickly())
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    features = llvm.get_host_cpu_features().flatten()
    have = set(features.split(","))
    # Every 64-bit ARM processor has the instruction; others report it.
    fused = "+fma" in have or llvm.get_process_triple().startswith(("aarch64", "arm64"))
    wide = "+avx512vl" in have
    return Target(llvm.get_host_cpu_name(), features, "", 16 if wide else 8, fused, wide and _gathers_quickly())


def host() -> Target:
    """The target of this process.

    :raises UsageError: POCKETGPU_LEVEL names a level that does not exist, or that this processor lacks.
    """
    return _chosen[-1] if _chosen else _host()


@contextmanager
def making_for(target: Target) -> Iterator[None]:
    """Make code for another target than this computer's, which can only be kept, not run."""
    _chosen.append(target)
    try:
        yield
    finally:
        _chosen.pop()


def _gathers_quickly() -> bool:
    """Whether this processor gathers quickly by one instruction: Intel's do, where "gather data sampling" needs no
    mitigation.

    Measured with AVX-512: a quarter less time for a texture-heavy kernel. With AVX2 there is no difference.
    """
    try:
        with open("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", encoding="ascii") as file:
            leak = file.read()
    except OSError:
        return False
    maker = _report().partition("vendor_id")[2].partition("\n")[0]
    return "GenuineIntel" in maker and leak.startswith("Not affected")
