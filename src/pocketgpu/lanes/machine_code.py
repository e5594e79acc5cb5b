"""From IR text to machine code in this process, through the on-disk cache.

Code is made for the target of this process (`target.py`). Where that is a level of x86-64, LLVM's object becomes an
image at once (`code_image.py`): loading one needs no LLVM. Elsewhere LLVM's own engine loads objects.

Code stays as long as the process. One lock guards the whole path, because llvmlite serialises every LLVM call anyway.
A fork waits for the lock. So a child process never inherits LLVM in the middle of its work, nor a lock that no thread
of the child would release.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from importlib.util import find_spec
from typing import Any

from pocketgpu.digests import blake2b
from pocketgpu.lanes import background, code_image, object_cache
from pocketgpu.lanes.target import Target, host

_ABI = 2  # raise when the meaning of a kernel's IR, its calling convention or the form of images changes
HURRIED, IN_MEMORY = "; few passes", "; few passes, variables in memory"
"""First lines of texts that are to be compiled quickly."""
_FEW_PASSES = ("simplify_cfg", "sroa", "instruction_combine", "simplify_cfg", "aggressive_dce")
"""SROA puts variables into registers."""
_MASKED = 16
"""Processors with so many lanes have registers for masks."""
lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_child=lock.release, after_in_parent=lock.release)
_state: dict[str, Any] = {}
_loaded: dict[str, int] = {}


class RefusedError(Exception):
    """LLVM found the IR text wrong; the message is LLVM's own."""


def _start() -> Any:
    """Start LLVM once; returns llvmlite.binding."""
    if "llvm" not in _state:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _state["llvm"] = llvm
    return _state["llvm"]


@cache
def _machine(goal: Target) -> Any:
    """A target machine. LLVM's engine links objects right that have the default relocation with the JIT code model."""
    llvm = _start()
    kind = {"reloc": "pic", "codemodel": "small"} if goal.level else {"reloc": "default", "codemodel": "jitdefault"}
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=goal.cpu, features=goal.features, opt=2, jit=not goal.level, **kind)


@cache
def _engine() -> Any:
    """LLVM's own engine, for systems without images."""
    llvm = _start()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine.__wrapped__(host()))  # it owns its machine


def best_lanes() -> int:
    """Lanes that kernels get here unless they fix their number."""
    return host().lanes


def fast_gather(lanes: int) -> bool:
    """Whether the gather instruction is faster than scalar loads for this number of lanes."""
    return lanes >= 16 and host().gathers


def fused() -> bool:
    """Whether code may multiply and add with one rounding by an instruction."""
    return host().fused


def halves() -> bool:
    """Whether code may convert to floats of 16 bits by an instruction."""
    return host().halves


def in_order() -> str:
    """The attribute of a function whose instructions are ordered as for a processor that runs them in their order."""
    return '"tune-cpu"="atom" ' if host().level else ""


def target() -> dict[str, Any]:
    """What the code is made for: cpu, features, triple, LLVM version."""
    with lock:
        llvm = _start()
        return {"cpu": host().cpu, "features": host().instructions, "triple": llvm.get_process_triple(),
                "llvm": ".".join(map(str, llvm.llvm_version_info))}  # fmt: skip


def compile_object(text: str) -> bytes:
    """Machine code (an object file) for one module of IR text."""
    llvm, machine = _start(), _machine(host())
    # Without the data layout the optimizer would not know the integer widths and alignments of this CPU.
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{llvm.get_process_triple()}"\n'
    try:
        module = llvm.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        raise RefusedError(str(error)) from None
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))
    if text.startswith(HURRIED):
        # They take a fifth of the time of all passes. Long code without branches is as fast.
        passes = llvm.create_new_module_pass_manager()
        # Masks of lanes are slow to make and to use in memory without registers for masks.
        in_memory = text.startswith(IN_MEMORY) and host().lanes >= _MASKED
        for name in _FEW_PASSES:
            if in_memory and name == "sroa":
                continue
            getattr(passes, f"add_{name}_pass")()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    code = bytes(machine.emit_object(module))
    _free(passes)
    return code


def _free(passes: Any) -> None:
    """Free passes: a third of a megabyte each time. llvmlite means to, but `ObjectRef`, the first base class of
    `ModulePassManager`, hides the method of the second one."""
    from llvmlite.binding import ffi
    from llvmlite.binding.newpassmanagers import NewPassManager

    kind = type(passes)
    hidden = kind.__mro__.index(ffi.ObjectRef) < kind.__mro__.index(NewPassManager) and "_dispose" not in vars(kind)
    if hidden and not passes.closed:
        ffi.lib.LLVMPY_DisposeNewModulePassManger(passes)
        passes.detach()


def _key(text: str) -> str:
    return blake2b(text.encode() + stamp(), digest_size=20).hexdigest()


@cache
def _compiler() -> bytes:
    """The version of llvmlite, which says which LLVM it holds, without importing it."""
    found = find_spec("llvmlite")
    try:
        if not (found and found.origin):
            return b""
        with open(os.path.join(os.path.dirname(found.origin), "_version.py"), "rb") as file:
            return file.read()
    except OSError:
        return b""


@cache
def _stamp(goal: Target) -> bytes:
    return repr((_ABI, goal.cpu, goal.features, goal.level, goal.gathers)).encode()


def stamp(compiler: bool = True) -> bytes:
    """What code depends on besides its text: what it is made for and, where it does not come with the package, its
    compiler."""
    return _stamp(host()) + (_compiler() if compiler else b"")


def known(name: str, key: str) -> int | None:
    """The address of function `name` of the code called `key`, if it is in this process or in the disk cache."""
    if key not in _loaded:
        data = object_cache.read(key)
        if data is None:
            return None
        with lock:
            _link(name, key, data)
    return _loaded[key]


def load(name: str, text: str) -> tuple[int, str]:
    """Address and key of function `name` of a module of IR text: from this process, the disk cache or the compiler."""
    background.in_use()
    with lock:
        key = _key(text)
        address = known(name, key)
        if address is None:
            data = _make(name, key, text)
            object_cache.write(key, data)
            address = _link(name, key, data)
            background.in_use()
        return address, key


def entry(name: str, text: str) -> tuple[str, bytes]:
    """Key and bytes of what the cache holds for a module of IR text with function `name`, from the compiler."""
    with lock:
        key = _key(text)
        return key, _make(name, key, text)


def image_of(text: str) -> bytes:
    """The image of a module of IR text, from the disk cache or the compiler; the target is a level."""
    with lock:
        key = _key(text)
        data = object_cache.read(key)
        if data is None:
            data = code_image.from_object(compile_object(text))
            object_cache.write(key, data)
        return data


def _make(name: str, key: str, text: str) -> bytes:
    """What the cache holds: an image, or an object whose function has a name of its own."""
    if host().level:
        return code_image.from_object(compile_object(text))
    return compile_object(text.replace(f"@{name}(", f"@{name}_{key}(", 1))


def _link(name: str, key: str, data: bytes) -> int:
    """Put code into the process; the lock is held."""
    if key not in _loaded:
        _loaded[key] = code_image.load([data])[0] if host().level else _address(f"{name}_{key}", data)
    return _loaded[key]


def _address(name: str, data: bytes) -> int:
    """The address of a function of an object, by LLVM's engine."""
    llvm = _start()
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    address = int(engine.get_function_address(name))
    if not address:
        raise RuntimeError(f"the compiled object of kernel {name} lacks its function; clear the kernel cache")
    return address
