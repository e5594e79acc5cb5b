"""Textures and surfaces for `pocketgpu launch`, made from files and options."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pocketgpu.maxwell.compute.texture_objects import Surface, Texture

_MOST = 1 << 28  # bytes of a file
_YES = {"yes": True, "no": False, "1": True, "0": False}


def _floats(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split("/"))


def _flag(text: str) -> bool:
    if text not in _YES:
        raise ValueError(f"{text!r} is neither yes nor no")
    return _YES[text]


_COMMON: dict[str, Callable[[str], Any]] = {"kind": str, "format": str, "numbers": str}
_OPTIONS: dict[str, dict[str, Callable[[str], Any]]] = {
    "surface": _COMMON,
    "texture": {
        **_COMMON, "filter": str, "mip_filter": str, "address": lambda text: text.split("/"), "normalized": _flag,
        "border": _floats, "srgb": _flag, "compare": str, "anisotropy": int, "lod_bias": float, "seamless": _flag,
    },
}  # fmt: skip


def read_image(kind: str, text: str) -> tuple[Texture | Surface, Path | None]:
    """A "texture" or "surface" from FILE[,option=value...][>OUT], and the file for its contents afterwards.

    FILE is a NumPy array (.npy), or a picture, whose texels are RGBA of 8 bits.

    :raises UsageError: the file cannot be read, or options do not fit.
    """
    from pocketgpu.maxwell.compute.texture_objects import Surface, Texture

    source, _, target = text.partition(">")
    name, *parts = source.split(",")
    known = _OPTIONS[kind]
    options: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key not in known:
            raise UsageError(f"a {kind} has no option {key!r}", location="--arg", hint=f"It has {', '.join(known)}.")
        try:
            options[key] = known[key](value)
        except ValueError as error:
            raise UsageError(f"{part!r}: {error}", location="--arg") from None
    array, picture = _array(name)
    if picture:
        options.setdefault("numbers", "unorm")
    made = (Texture if kind == "texture" else Surface)(array, **options)
    return made, Path(target) if target else None


def _array(name: str) -> tuple[NDArray[np.generic], bool]:
    """(array, whether it is a picture) of a file."""
    import numpy as np

    try:
        if Path(name).stat().st_size > _MOST:
            raise UsageError(f"{name} has more than {_MOST} bytes", location="--arg")
        data = Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}", location="--arg") from None
    try:
        if data[:6] == b"\x93NUMPY":
            return np.load(io.BytesIO(data), allow_pickle=False), False
        from PIL import Image

        with Image.open(io.BytesIO(data)) as image:
            return np.array(image.convert("RGBA")), True
    except (ValueError, OSError, EOFError) as error:
        raise UsageError(f"{name} is neither an array (.npy) nor a picture: {error}", location="--arg") from None


def array_file(image: Texture | Surface) -> bytes:
    """The texels as a .npy file."""
    import numpy as np

    out = io.BytesIO()
    np.save(out, image.arrays[0], allow_pickle=False)
    return out.getvalue()
