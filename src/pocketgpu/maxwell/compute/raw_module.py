"""Kernels of a cubin as functions, in the manner of CuPy's raw modules.

    module = pocketgpu.RawModule(path="kernel.cubin")
    sgemm = module.get_function("sgemm")
    sgemm((4, 4), (16, 16), (a, b, c, np.int32(64), np.float32(0.75)))

Textures and surfaces are arguments like arrays (see texture_objects.py); `bind` sets a module's texture references.

Arrays are copied to the GPU before a launch and back after it. Errors of a kernel (accesses outside of its arrays,
endless loops) are no exceptions: the result of a launch has them as `faults` and `hung`, and `module.events` as events.
"""

from __future__ import annotations

import struct
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.events import EventLog
from pocketgpu.maxwell.compute.device import Device, device
from pocketgpu.maxwell.compute.kernel_text import read_kernels
from pocketgpu.maxwell.compute.texture_objects import DESCRIPTOR, Surface, Texture
from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping
from pocketgpu.maxwell.sass.files.elf import Cubin, Kernel, Parameter, Relocation
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, offset_of
from pocketgpu.maxwell.sass.isa.header import aligned
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.faults import Buffer, Three
from pocketgpu.maxwell.sass.launch.launcher import LIMIT, LOCAL_WINDOW, SHARED_WINDOW, Result, Watch, three
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE
from pocketgpu.struct_words import Struct
from pocketgpu.wording import counted

CALL_STACK = 1024
"""Bytes of local memory for functions whose call depth the compiler does not know; CUDA's default."""

# The start of constant bank 0, before the parameters, as CUDA's compiler defines it.
BANK0 = Struct("SHARED_WINDOW", "LOCAL_WINDOW", "BLOCK:3", "GRID:3", "STACK_POINTER")
R_32, R_64, R_G32, R_G64 = 1, 2, 3, 4
"""Relocations of NVIDIA's ELF files that write an address: words and pairs."""
R_TEXTURE, R_IMMEDIATE, R_SURFACE = 6, 42, 52
"""Relocations with the handle of a texture or surface, and with the immediate of an instruction."""
DESCRIPTOR_SIZE_SYMBOL = ".nv.unified.texrefDescSize"
DESCRIPTORS_AT = 0xB0
"""Offset in bank 0 of the address of the table with a descriptor for each texture."""
_IMMEDIATE_BIT = 20


class RawModule:
    """The kernels of a cubin, of assembly text, or of bare code.

    :param path: of the file, "-" for the standard input; or `code`, its bytes or its text.
    :param header: directives for bare code, such as ".registers 8\\n.param data ptr" (`sass/isa/header.py`). Without
        `.param` arguments lie in their order, each at a multiple of its size.
    :param evaluator: "llvm" or "numpy".
    :param threads: of the host.
    :raises CaptureError: it cannot be read, is code for another GPU, or is damaged.
    :raises UsageError: neither or both of path and code are given; a text cannot be assembled.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        code: bytes | str | None = None,
        header: str | None = None,
        evaluator: str = "llvm",
        threads: int = 1,
    ) -> None:
        if (path is None) == (code is None):
            raise UsageError("a module is made of a path or of code")
        self.file = "" if path is None else str(path)
        if path is not None:
            try:
                code = sys.stdin.buffer.read() if self.file == "-" else Path(path).read_bytes()
            except OSError as error:
                raise CaptureError(
                    f"cannot read the file: {error.strerror or error}", file=self.file,
                    hint="Check the path and its permissions.",
                ) from None  # fmt: skip
        assert code is not None
        self.cubin: Cubin = read_kernels(code.encode() if isinstance(code, str) else code, self.file, header)
        self.device = device(evaluator, threads)
        self.events = EventLog()
        self._functions: dict[str, RawKernel] = {}
        self._globals: dict[int, GpuMapping] = {}
        self._banks: dict[int, bytearray] = {}
        self.bound: dict[str, Texture | Surface] = {}
        self._free = weakref.finalize(self, _release_all, self.device, self._globals)
        self._load()

    def __repr__(self) -> str:
        return line_of(self, f"{self.file or 'code'}: {', '.join(self.kernels) or 'no kernel'}")

    def close(self) -> None:
        """Free the memory of its variables, after the last launch; else that happens when nothing refers to it."""
        self._free()

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels."""
        return list(self.cubin.kernels)

    def get_function(self, name: str) -> RawKernel:
        """A kernel by name.

        :raises UsageError: there is none.
        """
        if name not in self._functions:
            kernel = self.cubin.kernels.get(name)
            if kernel is None:
                known = ", ".join(self.cubin.kernels) or "none"
                raise UsageError(f"there is no kernel {name!r}", location=self.file, hint=f"There are: {known}.")
            self._functions[name] = RawKernel(self, kernel)
        return self._functions[name]

    def bind(self, name: str, texture: Texture | Surface) -> None:
        """Set the texture or surface of a module's reference (`texture<float4, 2> name`).

        :raises UsageError: the module has no reference of the name.
        """
        known = sorted({r.symbol.name for r in self.cubin.relocations if r.type in (R_TEXTURE, R_SURFACE)})
        if name not in known:
            hint = f"There are: {', '.join(known)}." if known else "It has none."
            raise UsageError(f"there is no texture reference {name!r}", location=self.file, hint=hint)
        if not isinstance(texture, Texture | Surface):
            raise UsageError(f"a texture reference takes a Texture or a Surface, not {type(texture).__name__}")
        self.bound[name] = texture

    def references(self, kernel: str) -> list[tuple[int, str]]:
        """Texture and surface references of a kernel: (offset in bank 0, name)."""
        wanted = [s.index for s in self.cubin.sections if s.name == f".nv.constant0.{kernel}"]
        handles = [r for r in self.cubin.relocations if r.type in (R_TEXTURE, R_SURFACE)]
        return [(r.offset, r.symbol.name) for r in handles if r.section in wanted]

    def code_of(self, kernel: Kernel) -> bytes:
        """A kernel's code with the immediates that the loader sets."""
        code = bytearray(kernel.code)
        for relocation in self.cubin.relocations:
            at = relocation.offset
            if relocation.section != kernel.section.index or relocation.type != R_IMMEDIATE or at + 8 > len(code):
                continue
            if relocation.symbol.name == DESCRIPTOR_SIZE_SYMBOL:
                mask = 0xFFFFFFFF << _IMMEDIATE_BIT
                word = int.from_bytes(code[at : at + 8], "little") & ~mask | DESCRIPTOR << _IMMEDIATE_BIT
                code[at : at + 8] = word.to_bytes(8, "little")
        return bytes(code)

    def sources_of(self, kernel: Kernel) -> tuple[tuple[str, int] | None, ...]:
        """File and line of each instruction of a kernel, by the file's line table; empty without one."""
        count = len(kernel.code) // BUNDLE * 3
        return self.cubin.line_table.places(kernel.section.index, [offset_of(index) for index in range(count)])

    def get_global(self, name: str) -> NDArray[np.uint8]:
        """The bytes of a `__device__` or `__constant__` variable, writable.

        :raises UsageError: there is none.
        """
        for symbol in self.cubin.symbols:
            if symbol.name == name and symbol.kind == 1 and 0 < symbol.section < len(self.cubin.sections):
                start, end = symbol.value, symbol.value + symbol.size
                if symbol.section in self._globals:
                    mapping = self._globals[symbol.section]
                    self.device.memory.touch_spans(mapping.address + start, max(end - start, 1))
                    return self.device.memory.view(mapping.address, mapping.size)[start:end]
                bank = self._bank_of(self.cubin.sections[symbol.section].name)
                if bank is not None and bank in self._banks:
                    return np.frombuffer(self._banks[bank], np.uint8)[start:end]
        raise UsageError(f"there is no variable {name!r}", location=self.file)

    @staticmethod
    def _bank_of(section: str) -> int | None:
        bank = section.removeprefix(".nv.constant")
        return int(bank) if section.startswith(".nv.constant") and bank.isdigit() else None

    @cached_property
    def variables(self) -> list[Buffer]:
        """The memory of the module's variables, as faults name it."""
        return [
            Buffer(f"variable {symbol.name}", self._globals[symbol.section].address + symbol.value, symbol.size)
            for symbol in self.cubin.symbols
            if symbol.kind == 1 and symbol.section in self._globals
        ]

    def _load(self) -> None:
        """Load global variables into memory, and apply their relocations."""
        memory = self.device.memory
        for section in self.cubin.sections:
            if section.name in (".nv.global", ".nv.global.init") and section.size:
                mapping = self._globals[section.index] = self.device.allocate(section.size)
                data = section.data or bytes(section.size)
                memory.write(mapping.address, data + bytes(mapping.size - len(data)))
            bank = self._bank_of(section.name)
            if bank is not None:
                self._banks[bank] = bytearray(section.data)
        for relocation in self.cubin.relocations:
            self._relocate(relocation)

    def _relocate(self, relocation: Relocation) -> None:
        section = self.cubin.sections[relocation.section] if relocation.section < len(self.cubin.sections) else None
        if section is None or not section.name.startswith((".nv.constant", ".nv.global")):
            return
        if relocation.type in (R_TEXTURE, R_SURFACE):
            return  # handles are set at a launch
        symbol = relocation.symbol
        base = self._globals[symbol.section].address if symbol.section in self._globals else 0
        value = (base + symbol.value + relocation.addend) & 0xFFFF_FFFF_FFFF_FFFF
        if relocation.type not in (R_32, R_64, R_G32, R_G64):
            raise UsageError(f"{section.name} has a relocation of type {relocation.type}", location=self.file)
        data = struct.pack("<Q", value)[: 4 if relocation.type in (R_32, R_G32) else 8]
        if relocation.section in self._globals:
            self.device.memory.write(self._globals[relocation.section].address + relocation.offset, data)
        else:
            bank = self._bank_of(section.name)
            if bank is not None:
                self._banks[bank][relocation.offset : relocation.offset + len(data)] = data

    @property
    def banks(self) -> dict[int, bytes]:
        """Constant banks that all kernels share, with the current values of variables."""
        return {bank: bytes(data) for bank, data in self._banks.items() if bank}


def _release_all(device: Device, mappings: dict[int, GpuMapping]) -> None:
    while mappings:
        device.release(mappings.popitem()[1])


class RawKernel:
    """A kernel: call it with grid, block and arguments."""

    def __init__(self, module: RawModule, kernel: Kernel) -> None:
        self.module, self.kernel, self.name = module, kernel, kernel.name
        self.placed: Callable[[], list[Buffer]] = list
        """While a launch runs: the memory of its arrays, and of the module's variables."""
        # A section of code can begin with other functions.
        start = next((s.value for s in kernel.functions if s.name == kernel.name), 0)
        targets = {a for branch in kernel.indirect for a in branch.targets}
        targets |= {s.value for s in kernel.functions if s.name != kernel.name} if kernel.indirect else set()
        targets |= self._table_words()
        data, places = module.code_of(kernel), tuple(sorted(targets))
        self.code = Code(
            kernel.name, data, max(kernel.registers, 1), start, places, lines=kernel.lines,
            file=module.file if kernel.lines else "", sources=module.sources_of(kernel),
        )  # fmt: skip

    def __repr__(self) -> str:
        return line_of(self, f"{self.name}: {counted(len(self.kernel.code), 'byte')} of code")

    def _table_words(self) -> set[int]:
        """Words of the kernel's own constants that could be code addresses: its jump tables."""
        data = self.module.cubin.constants(self.name).get(2, b"")
        words = {word for (word,) in struct.iter_unpack("<I", data[: len(data) & -4])}
        return {word for word in words if 0 < word < len(self.kernel.code) and word % 8 == 0}

    @cached_property
    def _constants(self) -> dict[int, bytes]:
        """Constant banks that the file fills, except for bank 0."""
        return {bank: data for bank, data in self.module.cubin.constants(self.name).items() if bank}

    @cached_property
    def _references(self) -> list[tuple[int, str]]:
        return self.module.references(self.name)

    @cached_property
    def local_size(self) -> int:
        """Bytes of local memory of a thread."""
        size = self.kernel.local_size
        calls = any(step.op == "CAL" for step in self.code.flow.steps)
        return (size + CALL_STACK if calls else size + 7) & -8

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any] = (),
        *,
        shared_mem: int = 0,
        limit: int = LIMIT,
        count: bool = False,
        tier: str = "auto",
        watch: Watch | None = None,
        labels: Sequence[str] = (),
    ) -> Result:
        """Launch the kernel and wait for its end.

        :param grid, block: blocks of the grid, threads of a block: one to three sizes each.
        :param args: one for each parameter: arrays, NumPy scalars, Python numbers, bytes of a struct, textures and
            surfaces, None for a null pointer. Arrays that are not writeable are only read.
        :param shared_mem: bytes of dynamic shared memory.
        :param limit: instructions after which a warp counts as hung.
        :param count: also count instructions times active lanes.
        :param tier: "interpreter" or "specialised" to use only one kind of code.
        :param labels: names of the arguments in messages.
        :param watch: observes the launch (see `Watch` in `sass/launch/launcher.py`), as the stepping of `inspect` does.
        :raises UsageError: arguments do not fit the kernel's parameters, or a size is out of range.
        """
        device = self.module.device

        def names() -> list[str]:
            """Parameters are named in the kernel's text, or else by the caller."""
            known = [one.name for one in self._parameters(args)]
            return [name or label for name, label in zip(known, [*labels, *[""] * len(known)], strict=False)]

        with device.lock:
            arguments = _Arguments(device)
            try:
                grid, block = three(grid, "grid"), three(block, "block")
                constants = {**self._constants, **self.module.banks}
                constants[0] = self._bank0(grid, block, args, arguments)
                device.close_left()
                device.launcher.events = self.module.events
                self.placed = lambda: [*arguments.buffers(args, names()), *self.module.variables]
                result = device.launcher.launch(
                    self.code,
                    grid,
                    block,
                    constants,
                    self.kernel.shared_size + shared_mem,
                    self.local_size,
                    limit,
                    count,
                    tier=tier,
                    watch=watch,
                    buffers=self.placed,
                )
                arguments.take_back()
            finally:
                self.placed = list
                arguments.release()
        return result

    def _bank0(self, grid: Three, block: Three, args: Sequence[Any], arguments: _Arguments) -> bytes:
        parameters = self._parameters(args)
        base = self.kernel.parameter_base
        end = parameters[-1].offset + parameters[-1].size if parameters and self.kernel.loose else 0
        bank = bytearray(min(base + max(self.kernel.parameter_size, end), BANK_SIZE))
        head = struct.pack("<9I", SHARED_WINDOW, LOCAL_WINDOW, *block, *grid, self.local_size)
        bank[BANK0.SHARED_WINDOW : BANK0.size] = head
        for n, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
            at, size = base + parameter.offset, parameter.size
            if isinstance(value, np.number) and value.itemsize == size and not parameter.type:
                bank[at : at + size] = value.data
                continue
            about = f"argument {n} of {self.name}"
            number = fitting(value, parameter, about) if parameter.type else value
            bank[at : at + size] = arguments.bytes_of(number, size, about)
        if self.code.textures:
            bank[DESCRIPTORS_AT : DESCRIPTORS_AT + 8] = struct.pack("<Q", arguments.device.slots.table.address)
        for offset, name in self._references:
            texture = self.module.bound.get(name)
            if texture is None:
                hint = f'module.bind("{name}", pocketgpu.Texture(...))'
                raise UsageError(f"the texture reference {name!r} of {self.name} has no texture", hint=hint)
            bank.extend(bytes(max(0, min(offset + 4, BANK_SIZE) - len(bank))))
            bank[offset : offset + 4] = struct.pack("<I", arguments.handle_of(texture))
        return bytes(bank)

    def _parameters(self, args: Sequence[Any]) -> Sequence[Parameter]:
        """A parameter for each argument."""
        if self.kernel.loose:
            found: list[Parameter] = []
            for n, value in enumerate(args):
                size = size_of(value, f"argument {n} of {self.name}")
                end = found[-1].offset + found[-1].size if found else 0
                found.append(Parameter(n, aligned(end, size), size))
            return found
        parameters = self.kernel.parameters
        if len(args) != len(parameters):
            names = ", ".join(f"{one.name} ({one.type or counted(one.size, 'byte')})" for one in parameters if one.name)
            takes = counted(len(parameters), "argument")
            hint = f"They are {names}." if names else None
            raise UsageError(f"kernel {self.name} takes {takes}, not {len(args)}", hint=hint)
        return parameters


def size_of(value: Any, name: str) -> int:
    """Bytes of the parameter for an argument, where nothing else says them.

    :raises UsageError: a Python number has no size.
    """
    if value is None or isinstance(value, Texture | Surface) or (isinstance(value, np.ndarray) and value.ndim):
        return 8
    if isinstance(value, np.generic | np.ndarray):
        return value.nbytes
    if isinstance(value, bytes | bytearray | memoryview) and len(value):
        return len(value)
    kind = type(value).__name__
    hint = "Give np.int32(5) or np.float32(0.5), or write '.param NAME TYPE' above the kernel's text."
    raise UsageError(f"{name}: nothing says how many bytes {kind} has there", hint=hint)


def fitting(value: Any, parameter: Parameter, name: str) -> Any:
    """An argument for a parameter whose type is known; whole numbers become floats there.

    :raises UsageError: it is of another kind.
    """
    wanted = parameter.type[:1]
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    number = np.asarray(value) if isinstance(value, bool | int | float | np.generic) else None
    kind = "" if number is None else number.dtype.kind
    if wanted == "f" and isinstance(value, int):
        return np.dtype(f"f{parameter.size}").type(value)
    if (kind == "f") != (wanted == "f"):
        what = f"{parameter.name} is {parameter.type}, and {type(value).__name__} does not fit"
        raise UsageError(f"{name}: {what}", hint="Numbers of u and s types are whole, those of f types are floats.")
    return value


class _Arguments:
    """The arrays of one launch in the device's memory."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.arrays: list[tuple[NDArray[Any], GpuMapping, int]] = []
        """Arrays with their memory, and the newest version of its pages before the launch."""
        self.surfaces: list[Surface] = []

    def buffers(self, args: Sequence[Any], names: Sequence[str]) -> list[Buffer]:
        """The memory of arguments that are arrays or null pointers, as faults name it. names: "" for none."""
        found = []
        for number, (value, name) in enumerate(zip(args, names, strict=True)):
            title = f"argument {number} ({name})" if name else f"argument {number}"
            if value is None:
                found.append(Buffer(title, 0, 0, number))
            elif isinstance(value, np.ndarray) and value.ndim:
                found.append(Buffer(title, self._address(value), value.nbytes, number))
        return found

    def bytes_of(self, value: Any, size: int, name: str) -> bytes:
        """An argument as the bytes of its parameter."""
        if isinstance(value, np.ndarray) and value.ndim:
            data = struct.pack("<Q", self._address(value))
        elif value is None:
            data = bytes(8)
        elif isinstance(value, bytes | bytearray | memoryview):
            data = bytes(value)
        elif isinstance(value, Texture | Surface):
            data = struct.pack("<Q", self.handle_of(value))
        elif isinstance(value, np.generic | np.ndarray):
            data = value.tobytes()
        elif isinstance(value, bool | int):
            data = self._integer(int(value), size, name)
        elif isinstance(value, float):
            data = struct.pack("<d" if size == 8 else "<f", value)
        else:
            raise UsageError(f"{name}: a {type(value).__name__} cannot be an argument of a kernel")
        if len(data) != size:
            raise UsageError(f"{name} has {size} bytes, not {len(data)}")
        return data

    def handle_of(self, texture: Texture | Surface) -> int:
        """The handle of a texture or surface, after copying its texels to the device's memory."""
        if isinstance(texture, Surface):
            if texture not in self.surfaces:
                self.surfaces.append(texture)
                return texture.handle(self.device)
            return texture.place(self.device).handle
        return texture.handle(self.device)

    @staticmethod
    def _integer(value: int, size: int, name: str) -> bytes:
        if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
            raise UsageError(f"{name}: {value} does not fit {size} bytes")
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")

    def _address(self, array: NDArray[Any]) -> int:
        for other, mapping, _ in self.arrays:
            if other is array or (np.may_share_memory(other, array) and _same_bytes(other, array)):
                return mapping.address
        mapping = self.device.allocate(array.nbytes)
        memory, start, end = self.device.memory, self._start(mapping), array.nbytes
        arena = memory.arena
        arena[start : start + end] = array.reshape(-1).view(np.uint8)
        if end < mapping.size:
            arena[start + end : start + mapping.size] = 0
        memory.touch(start, mapping.size)
        self.arrays.append((array, mapping, memory.version))
        return mapping.address

    @staticmethod
    def _start(mapping: GpuMapping) -> int:
        return mapping.backing.offset + mapping.offset

    def _view(self, mapping: GpuMapping) -> NDArray[np.uint8]:
        start = self._start(mapping)
        return self.device.memory.arena[start : start + mapping.size]

    def take_back(self) -> None:
        """Copy the kernel's writes back into its arrays."""
        newest = self.device.memory.newest
        for array, mapping, before in self.arrays:
            if array.flags.writeable and newest(self._start(mapping), mapping.size) != before:
                array[...] = self._view(mapping)[: array.nbytes].view(array.dtype).reshape(array.shape)
        for surface in self.surfaces:
            surface.take_back(self.device)

    def release(self) -> None:
        for _, mapping, _ in self.arrays:
            self.device.release(mapping)


def _same_bytes(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays begin at the same place and have as many bytes."""
    where = [one.__array_interface__["data"][0] for one in (a, b)]
    return where[0] == where[1] and a.nbytes == b.nbytes


__all__ = ["Device", "RawKernel", "RawModule", "device"]
