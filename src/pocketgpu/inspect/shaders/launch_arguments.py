"""Arguments of kernels on the command line: numbers, structs, arrays from files, textures and surfaces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocketgpu.errors import UsageError
from pocketgpu.inspect.shaders.launch_images import array_file, read_image
from pocketgpu.wording import counted

if TYPE_CHECKING:
    import numpy as np

_NUMBERS = {
    "u8": "<u1", "s8": "<i1", "u16": "<u2", "s16": "<i2", "u32": "<u4", "s32": "<i4", "u64": "<u8", "s64": "<i8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_MOST = 1 << 30  # bytes of an array


def sizes_of(text: str, name: str) -> tuple[int, ...]:
    """ "4,4" or "4x4" as numbers."""
    try:
        sizes = tuple(int(part, 0) for part in text.replace("x", ",").split(","))
    except ValueError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise UsageError(f"{text!r} is no size", location=name, hint="One to three numbers, such as 4,4.")
    return sizes


class Argument:
    """One --arg: a number, bytes of a struct, or an array from a file or of zeros, perhaps written to a file after.

    label: how messages name it, such as "inout:data.bin".
    """

    def __init__(self, text: str) -> None:
        kind, _, rest = text.partition(":")
        self.label = text.partition(">")[0]
        self.out: Path | None = None
        self.value: Any = self._read(kind, rest, text)

    def _read(self, kind: str, rest: str, text: str) -> Any:
        import numpy as np

        try:
            if kind in _NUMBERS:
                number = float(rest) if kind[0] == "f" else int(rest, 0)
                return (
                    np.array(number).astype(_NUMBERS[kind])[()]
                    if kind[0] == "f"
                    else np.array(number, _NUMBERS[kind])[()]
                )
            if kind == "bytes":
                return bytes.fromhex(rest)
            if kind in ("in", "inout", "zeros", "out"):
                return self._array(kind, rest)
            if kind in ("texture", "surface"):
                image, self.out = read_image(kind, rest)
                return image
        except (ValueError, OverflowError) as error:
            raise UsageError(f"{text!r}: {error}", location="--arg") from None
        known = "u32:5, f32:0.5, bytes:00ff, in:FILE, inout:FILE[>OUT], zeros:BYTES[>OUT], texture:FILE, surface:FILE"
        raise UsageError(f"{text!r} is no argument", location="--arg", hint=f"Arguments are {known}.")

    @property
    def data(self) -> bytes:
        """Its contents, as the bytes of a file."""
        return array_file(self.value) if hasattr(self.value, "arrays") else bytes(self.value.tobytes())

    def _array(self, kind: str, rest: str) -> np.ndarray[Any, Any]:
        import numpy as np

        source, _, target = rest.partition(">")
        if kind == "zeros":
            size = int(source, 0)
            if not 0 < size <= _MOST:
                raise ValueError(f"{counted(size, 'byte')}")
            array = np.zeros(size, np.uint8)
        else:
            try:
                data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
            except OSError as error:
                raise ValueError(error.strerror or str(error)) from None
            array = np.frombuffer(data, np.uint8).copy()
        array.flags.writeable = kind != "in"
        if target:
            self.out = Path(target)
        return array
