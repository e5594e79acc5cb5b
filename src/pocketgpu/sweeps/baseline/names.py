"""Which captures of two sweeps belong together."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable


def matched(names: Iterable[str], before: Iterable[str]) -> dict[str, str | None]:
    """For each name its counterpart in the earlier sweep, None if there is none.

    Names are compared as they are. If not one is in both, the captures were in other folders: then names are compared
    from the folder on that all captures of a sweep are in.
    """
    ours, theirs = list(names), list(before)
    known = set(theirs)
    if not ours or known.intersection(ours):
        return {name: name if name in known else None for name in ours}
    places = dict(zip(relative(theirs), theirs, strict=True))
    return {name: places.get(place) for name, place in zip(ours, relative(ours), strict=True)}


def relative(names: Iterable[str]) -> list[str]:
    """Names without the folder that all are in. Different names stay different."""
    parts = [tuple(posixpath.normpath(name.replace("\\", "/")).split("/")) for name in names]
    if len(set(parts)) < len(parts):  # such as a/../b and b: as they are
        return list(names)
    folders = [one[:-1] for one in parts]
    low, high = min(folders, default=()), max(folders, default=())
    common = 0
    for one, other in zip(low, high, strict=False):
        if one != other:
            break
        common += 1
    return ["/".join(one[common:]) for one in parts]


__all__ = ["matched", "relative"]


def __dir__() -> list[str]:
    return [*__all__]
