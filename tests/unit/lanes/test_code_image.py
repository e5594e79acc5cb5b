"""Images of machine code: constants, tables of jumps and calls of the C library are right; damage is refused."""

from __future__ import annotations

import ctypes
import struct

import pytest

from pocketgpu.lanes import code_image, machine_code
from pocketgpu.lanes.target import host

pytestmark = pytest.mark.skipif(not host().level, reason="images are for Linux with x86-64")
TABLE = ", ".join(f"i32 {7 * i + 1}" for i in range(64))
LOOK_UP = f"""
@table = private unnamed_addr constant [64 x i32] [{TABLE}]
define i32 @work(i32 %n) {{
  %at = getelementptr [64 x i32], ptr @table, i32 0, i32 %n
  %found = load i32, ptr %at
  ret i32 %found
}}
"""
CASES = {0: 10, 1: 31, 2: 5, 3: 77, 4: 8, 5: 1000}
CHOOSE = """
define i32 @work(i32 %n) {
  %place = alloca i32
  switch i32 %n, label %other [ LABELS ]
BLOCKS
other:
  ret i32 -1
}
""".replace("LABELS", " ".join(f"i32 {n}, label %case{n}" for n in CASES)).replace(
    "BLOCKS", "\n".join(f"case{n}:\n" + f"  store volatile i32 {n}, ptr %place\n" * (n + 1) + f"  ret i32 {result}"
                        for n, result in CASES.items())
)  # fmt: skip
COPY = """
declare ptr @memcpy(ptr, ptr, i64)
declare ptr @memset(ptr, i32, i64)
define i32 @work(ptr %to, ptr %from, i64 %n) {
  %a = call ptr @memcpy(ptr %to, ptr %from, i64 %n)
  %end = getelementptr i8, ptr %to, i64 %n
  %b = call ptr @memset(ptr %end, i32 90, i64 4)
  %c = call ptr @memcpy(ptr %end, ptr %from, i64 2)
  ret i32 3
}
"""
STRANGER = """
declare double @sin(double)
define double @work(double %x) {
  %y = call double @sin(double %x)
  ret double %y
}
"""


def image(text: str) -> bytes:
    return code_image.from_object(machine_code.compile_object(text))


def test_constants_and_tables_of_jumps_move_with_the_code() -> None:
    look, choose = (ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(at) for at in
                    code_image.load([image(LOOK_UP), image(CHOOSE)]))  # fmt: skip
    assert [look(n) for n in range(64)] == [7 * n + 1 for n in range(64)]
    assert [choose(n) for n in range(-1, 7)] == [-1, *CASES.values(), -1]


def test_functions_of_the_c_library_are_called() -> None:
    (address,) = code_image.load([image(COPY)])
    run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64)(address)
    target = ctypes.create_string_buffer(b"." * 12)
    assert run(ctypes.cast(target, ctypes.c_char_p), b"abcdefgh", 6) == 3
    assert target.raw == b"abcdefabZZ..\0"


def test_other_functions_are_refused() -> None:
    with pytest.raises(code_image.UnloadableError, match="call of sin"):
        image(STRANGER)


def test_the_same_text_gives_the_same_bytes() -> None:
    assert image(CHOOSE) == image(CHOOSE)


@pytest.mark.parametrize("damage", ["empty", "magic", "short", "long", "entry", "jump"])
def test_damage_is_refused(damage: str) -> None:
    good = bytearray(image(COPY))
    if damage == "empty":
        good = bytearray()
    elif damage == "magic":
        good[0] ^= 1
    elif damage == "short":
        del good[-1]
    elif damage == "long":
        good += b"\0"
    else:
        struct.pack_into("<I", good, {"entry": 12, "jump": 16}[damage], len(good))
    with pytest.raises(code_image.UnloadableError):
        code_image.load([bytes(good)])


def test_the_memory_of_code_cannot_be_written() -> None:
    (address,) = code_image.load([image(LOOK_UP)])
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            first, last = (int(word, 16) for word in line.split()[0].split("-"))
            if first <= address < last:
                assert line.split()[1] == "r-xp"
                return
    raise AssertionError("the code is not in this process")
