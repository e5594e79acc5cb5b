"""From IR text to machine code in this process, through the on-disk object cache.

The execution engine lives as long as the process: callables and handles point into its code. One lock guards the whole
path, because llvmlite serialises every LLVM call anyway. A fork waits for the lock. So a child process never inherits
LLVM in the middle of its work, nor a lock that no thread of the child would release.
"""

from __future__ import annotations

import hashlib
import os
import threading
from functools import cache
from pathlib import Path
from typing import Any

from pocketgpu.lanes import background, object_cache

_ABI = 1  # raise when the meaning of a kernel's IR or its calling convention changes
HURRIED = "; few passes"
"""The first line of a text that is to be compiled quickly."""
_FEW_PASSES = ("simplify_cfg", "sroa", "instruction_combine", "simplify_cfg", "aggressive_dce")
lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_child=lock.release, after_in_parent=lock.release)
_state: dict[str, Any] = {}
_loaded: dict[str, int] = {}


class RefusedError(Exception):
    """LLVM found the IR text wrong; the message is LLVM's own."""


def _machine(llvm: Any) -> Any:
    """A target machine for this CPU. Default relocation with the JIT code model: the pair that MCJIT links right
    even when an object refers to an external symbol."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=_state["cpu"], features=_state["features"], opt=2, jit=True, reloc="default", codemodel="jitdefault"
    )


def _start() -> Any:
    """Start LLVM once; returns llvmlite.binding."""
    if "llvm" not in _state:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _state["cpu"] = llvm.get_host_cpu_name()
        _state["features"] = llvm.get_host_cpu_features().flatten()
        _state["triple"] = llvm.get_process_triple()
        _state["machine"] = _machine(llvm)
        _state["engine"] = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
        _state["layout"] = str(_state["machine"].target_data)
        stamp = (llvm.llvm_version_info, _state["cpu"], _state["features"], _state["triple"], _ABI)
        _state["stamp"] = repr(stamp).encode()
        _state["llvm"] = llvm
    return _state["llvm"]


@cache  # and so without waiting for a compilation at work
def best_lanes() -> int:
    """Lanes that kernels get here unless they fix their number: results never depend on it, speed does.

    Measured: eight are best with AVX2, sixteen with AVX-512 (one and a half times as fast there).
    """
    with lock:
        _start()
        return 16 if "+avx512vl" in _state["features"].split(",") else 8


@cache
def _gathers_quickly() -> bool:
    """Whether this CPU has a fast gather instruction: Intel's, without the mitigation of "gather data sampling"."""
    try:
        maker = Path("/proc/cpuinfo").read_text().partition("vendor_id")[2].partition("\n")[0]
        leak = Path("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling").read_text()
    except OSError:
        return False
    return "GenuineIntel" in maker and leak.startswith("Not affected")


def fast_gather(lanes: int) -> bool:
    """Whether the gather instruction is faster than scalar loads for this number of lanes.

    Measured: with AVX-512 by a quarter of the time of a texture-heavy kernel; with AVX2 there is no difference.
    """
    return lanes >= 16 and best_lanes() >= 16 and _gathers_quickly()


@cache
def fused() -> bool:
    """Whether this CPU multiplies and adds with one rounding: every 64-bit ARM CPU does, others report it."""
    with lock:
        _start()
        return "+fma" in _state["features"].split(",") or _state["triple"].startswith(("aarch64", "arm64"))


def target() -> dict[str, Any]:
    """What the code is made for: cpu, features, triple, LLVM version."""
    with lock:
        llvm = _start()
        return {"cpu": _state["cpu"], "features": _state["features"], "triple": _state["triple"],
                "llvm": ".".join(map(str, llvm.llvm_version_info))}  # fmt: skip


def compile_object(text: str) -> bytes:
    """Machine code (an object file) for one module of IR text."""
    llvm = _start()
    # Without the data layout the optimizer would not know the integer widths and alignments of this CPU.
    head = f'target datalayout = "{_state["layout"]}"\ntarget triple = "{_state["triple"]}"\n'
    try:
        module = llvm.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        raise RefusedError(str(error)) from None
    builder = llvm.create_pass_builder(_state["machine"], llvm.create_pipeline_tuning_options(2))
    if text.startswith(HURRIED):
        # They take a fifth of the time of all passes. Long code without branches is as fast.
        passes = llvm.create_new_module_pass_manager()
        for name in _FEW_PASSES:
            getattr(passes, f"add_{name}_pass")()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    return bytes(_state["machine"].emit_object(module))


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode() + _state["stamp"], digest_size=20).hexdigest()


def stamp() -> bytes:
    """What cached code depends on besides its text: the CPU, the version of LLVM."""
    if "stamp" not in _state:
        with lock:
            _start()
    return bytes(_state["stamp"])


def known(name: str, key: str) -> int | None:
    """The address of function `name` of the object called `key`, if it is in this process or in the disk cache."""
    if key not in _loaded:
        data = object_cache.read(key)
        if data is None:
            return None
        with lock:
            _start()
            _link(name, key, data)
    return _loaded[key]


def load(name: str, text: str) -> tuple[int, str]:
    """Address and key of function `name` of a module of IR text: from this process, the disk cache or the compiler."""
    background.in_use()
    with lock:
        _start()
        key = _key(text)
        address = known(name, key)
        if address is None:
            data = compile_object(text.replace(f"@{name}(", f"@{name}_{key}(", 1))
            object_cache.write(key, data)
            address = _link(name, key, data)
            background.in_use()
        return address, key


def _link(name: str, key: str, data: bytes) -> int:
    """Put an object into the process; the lock is held."""
    if key not in _loaded:
        engine = _state["engine"]
        engine.add_object_file(_state["llvm"].ObjectFileRef.from_data(data))
        engine.finalize_object()
        address = int(engine.get_function_address(f"{name}_{key}"))
        if not address:
            raise RuntimeError(f"the compiled object of kernel {name} lacks its function; clear the kernel cache")
        _loaded[key] = address
    return _loaded[key]
