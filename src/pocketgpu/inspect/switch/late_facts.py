"""Facts of events of which one is computed when it is first read: names of registers take the most time of an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class LateFacts(Mapping[str, Any]):
    """Facts by name. The last one, `name`, is what `late` returns."""

    def __init__(self, known: dict[str, Any], name: str, late: Callable[[], Any]) -> None:
        self._known, self._name, self._late = known, name, late

    def __getitem__(self, name: str) -> Any:
        if name == self._name and name not in self._known:
            self._known[name] = self._late()
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name == self._name or name in self._known

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._known if name != self._name)
        yield self._name

    def __len__(self) -> int:
        return len(self._known) + (self._name not in self._known)

    def __repr__(self) -> str:
        return repr(dict(self))


__all__ = ["LateFacts"]
