"""Rows as columns: Arrow arrays, read through the C interface by hand, and pandas."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.decode import ROW, Decoded, decode, decode_words
from pocketgpu.inspect.decode.tables import Texts, columns

DATA = Path(__file__).resolve().parents[2] / "promises" / "data"


@pytest.fixture(scope="module", params=["scene_3ds.pgc", "scene_switch.pgc"])
def decoded(request: pytest.FixtureRequest) -> Decoded:
    return decode(pocketgpu.open(DATA / request.param))


def expected(decoded: Decoded) -> dict[str, list[Any]]:
    """The columns as the JSON lines have them: another way from rows to names, fields and effects."""
    lines = [json.loads(line) for line in decoded.json_lines(header=False)]
    assert len(lines) == len(decoded.rows)
    found: dict[str, list[Any]] = {name: decoded.rows[name].tolist() for name in ("frame", "draw", "position", "list")}
    found["word"] = [int(line["word"], 16) for line in lines]
    found["address"] = [int(line.get("address", "0"), 16) for line in lines]
    found["what"] = [line["what"] for line in lines]
    found["block"] = [line.get("block", "") for line in lines]
    found["register"] = [line.get("register", {}).get("name", "") for line in lines]
    found["changed"] = [line.get("changed", False) for line in lines]
    found["effects"] = [" ".join(line.get("effects", [])) for line in lines]
    found["fields"] = [", ".join(f"{a}={b}" for a, b in line.get("fields", {}).items()) for line in lines]
    is_write = [line["what"] in ("parameter", "immediate", "issued") for line in lines]
    for name in ("old", "new"):
        found[name] = [
            int(line["register"][name], 16) if write else row
            for line, write, row in zip(lines, is_write, decoded.rows[name].tolist(), strict=True)
        ]
    return found


def plain(column: Any) -> list[Any]:
    if isinstance(column, Texts):
        return [column.words[code] for code in column.codes.tolist()]
    return column.tolist()  # type: ignore[no-any-return]


def test_columns_say_what_the_json_lines_say(decoded: Decoded) -> None:
    found = columns(decoded.rows)
    truth = expected(decoded)
    for name, values in truth.items():
        assert plain(found[name]) == values, name
    assert set(found) - set(truth) == {"segment", "id", "mask", "subchannel"}
    assert all(found[name].dtype == ROW[name] for name in ("frame", "address", "word", "mask"))


def test_no_rows_are_columns_too() -> None:
    found = columns(decode_words([]).rows)
    assert all(plain(column) == [] for column in found.values())


def test_json_lines_without_a_header_are_the_same_lines(decoded: Decoded) -> None:
    whole = list(decoded.json_lines())
    assert list(decoded.json_lines(header=False)) == whole[1:] and "schema" in whole[0]


# Arrow


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


# The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
]  # fmt: skip
NUMBERS = {b"i": "i4", b"I": "u4", b"L": "u8", b"l": "i8", b"S": "u2", b"C": "u1"}


def pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))


def buffer(address: int | None, size: int) -> bytes:
    return ctypes.string_at(address, size) if size and address else b""


def child_values(schema: ArrowSchema, array: ArrowArray) -> list[Any]:
    """The values of a column, from its buffers."""
    count, start = array.length, array.offset
    assert not array.null_count or not array.buffers[0]
    if schema.format == b"u":
        offsets = np.frombuffer(buffer(array.buffers[1], 4 * (start + count + 1)), "<i4")[start:].tolist()
        data = buffer(array.buffers[2], offsets[-1])
        return [data[a:b].decode() for a, b in pairwise(offsets)]
    if schema.format == b"b":
        bits = np.frombuffer(buffer(array.buffers[1], (start + count + 7) // 8), np.uint8)
        return np.unpackbits(bits, bitorder="little")[start : start + count].astype(bool).tolist()  # type: ignore[no-any-return]
    kind = np.dtype(NUMBERS[schema.format])
    data = buffer(array.buffers[1], kind.itemsize * (start + count))
    return np.frombuffer(data, kind)[start : start + count].tolist()  # type: ignore[no-any-return]


def by_hand(made: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns that an object gives through the C interface."""
    schema_capsule, array_capsule = made.__arrow_c_array__()
    schema = ArrowSchema.from_address(pointer(schema_capsule, b"arrow_schema"))
    array = ArrowArray.from_address(pointer(array_capsule, b"arrow_array"))
    assert schema.format == b"+s" and schema.n_children == array.n_children
    for n in range(schema.n_children):
        one = schema.children[n].contents
        yield one.name.decode(), child_values(one, array.children[n].contents)


def test_arrow_arrays_hold_the_columns(decoded: Decoded) -> None:
    pytest.importorskip("nanoarrow", reason="nanoarrow is not installed (extra 'tables')")
    found = dict(by_hand(decoded.to_arrow()))
    for name, column in columns(decoded.rows).items():
        assert found.pop(name) == plain(column), name
    assert found == {}
    mask = decoded.select(["f1"])
    assert dict(by_hand(decoded.to_arrow(mask)))["word"] == decoded.rows["word"][mask].tolist()
    assert len(decode_words([]).to_arrow()) == 0


def test_pandas_has_the_columns(decoded: Decoded) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = decoded.to_pandas()
    for name, column in columns(decoded.rows).items():
        assert table[name].tolist() == plain(column), name
    assert len(decoded.to_pandas(decoded.select(["f1"]))) == int(decoded.select(["f1"]).sum())


@pytest.mark.parametrize(("call", "module"), [("to_arrow", "nanoarrow"), ("to_pandas", "pandas")])
def test_a_missing_package_is_named_with_the_command(call: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # importing it raises ImportError
    with pytest.raises(UsageError) as caught:
        getattr(decode_words([1, 2]), call)()
    assert module in caught.value.message and "pip install" in str(caught.value.hint)


def test_decoding_alone_imports_neither_of_them() -> None:
    code = "import sys, pocketgpu.inspect.decode; print(*sorted({'nanoarrow', 'numpy', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numpy"]
