"""Comparison of the memories that FIFO registers fill, word by word: uniforms, programs, look-up tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.changes import Change
from pocketgpu.pica.core.layout import BANKS

_AXES = "xyzw"


def _vector(what: str) -> Callable[[int], str]:
    return lambda place: f"{what}{place >> 2}.{_AXES[place & 3]}"


def _entry(what: str) -> Callable[[int], str]:
    return lambda place: f"{what}[{place}]"


NAMES: Mapping[str, tuple[Callable[[int], str], bool]] = {
    "vs_uniforms": (_vector("vertex c"), True),
    "vs_code": (_entry("vertex code"), False),
    "vs_opdescs": (_entry("vertex descriptor"), False),
    "gs_uniforms": (_vector("geometry c"), True),
    "gs_code": (_entry("geometry code"), False),
    "gs_opdescs": (_entry("geometry descriptor"), False),
    "fixed_attributes": (_vector("fixed attribute "), True),
    "fog_lut": (_entry("fog table"), False),
    "lighting_lut": (lambda place: f"lighting table {place >> 8}[{place & 255}]", False),
    "proctex_lut": (_entry("procedural texture table"), False),
    "gas_lut": (_entry("gas table"), False),
}
"""For each memory that a draw reads: the name of a word by its index, and whether words are floats."""
assert set(NAMES) == {bank.name for bank in BANKS} - {"gs_uniform_marks"}


def table_changes(
    old: Mapping[str, NDArray[np.uint32]] | None, new: Mapping[str, NDArray[np.uint32]], *, geometry: bool
) -> list[Change]:
    """Words that differ. old: None for all zero, as after reset. geometry: also compare what only geometry programs
    read."""
    found = []
    for bank, (name, is_float) in NAMES.items():
        if bank.startswith("gs_") and not geometry:
            continue
        mine = new[bank]
        other = np.zeros_like(mine) if old is None else old[bank]
        for place in np.flatnonzero(mine != other).tolist():
            words = int(other[place]), int(mine[place])
            was, now = (f"{np.uint32(word).view(np.float32):.9g}" for word in words)
            found.append(Change(name(place), *words, (("value", was, now),) if is_float else (), bank))
    return found
