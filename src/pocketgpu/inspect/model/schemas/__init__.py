"""The JSON Schemas (draft 2020-12) of answers and commands, one file for each id: `why-2.json` is `pocketgpu.why/2`.

An id has one shape, which is the same for both consoles. A shape that changes gets a new version, and so a new file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pocketgpu.errors import UsageError

_FOLDER = Path(__file__).parent
_ID = re.compile(r"pocketgpu\.([a-z.-]+/[0-9]+)")
_REFERENCE = re.compile(r'"urn:pocketgpu:([a-z.-]+/[0-9]+)#?[^"]*"')


def schema_ids() -> list[str]:
    """All ids: "pocketgpu.change/1", "pocketgpu.check/1", ..."""
    return sorted(f"pocketgpu.{'/'.join(path.stem.rsplit('-', 1))}" for path in _FOLDER.glob("*.json"))


def schema(id: str) -> dict[str, Any]:
    """The schema of an id such as "pocketgpu.why/2", whole: `$defs` has all other schemas that it refers to.

    :raises UsageError: there is no such id.
    """
    found = _ID.fullmatch(id)
    if found is None or not _file(found[1]).is_file():
        raise UsageError(f"there is no schema {id!r}", hint=f"There are: {', '.join(schema_ids())}.")
    text = _file(found[1]).read_text(encoding="utf-8")
    whole: dict[str, Any] = json.loads(text)
    texts, left = {found[1]: text}, {found[1]}
    while left:
        left = {name for one in left for name in _REFERENCE.findall(texts[one])} - texts.keys()
        texts |= {name: _file(name).read_text(encoding="utf-8") for name in left}
    others = {name: json.loads(text) for name, text in sorted(texts.items()) if name != found[1]}
    return whole | {"$defs": whole.get("$defs", {}) | others} if others else whole


def _file(name: str) -> Path:
    """The file of "why/2"."""
    return _FOLDER / f"{name.replace('/', '-')}.json"


__all__ = ["schema", "schema_ids"]
