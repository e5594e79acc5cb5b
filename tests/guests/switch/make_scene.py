"""Makes scene_data.h: programs of scene.c as our assembler makes them, headers of its texture, and numbers of methods.

    PYTHONPATH=../../../src python3 make_scene.py > scene_data.h
    PYTHONPATH=../../../src python3 make_scene.py 1280 720 > large_data.h

Who includes the second one before scene.c has larger pictures.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable

import numpy as np

from pocketgpu.builder.maxwell import PushBuffer, shader
from pocketgpu.builder.values import encode_register
from pocketgpu.facts.maxwell import B06F, B197
from pocketgpu.facts.maxwell.headers import TIC, TSC

WIDTH, HEIGHT = map(int, sys.argv[1:] or (320, 180))
TEXELS, FONT_TEXELS = 16, 256
BLOCK_ROWS = 128
"""Of the blocks that the buffers consist of."""
VERTEX = "ALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
PIXEL = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R0, a[0x80], R5
    IPA R1, a[0x84], R5
    TEX R0, R0, RZ, 0x0, 2D, 0xf
    EXIT
"""
HEADER = {
    "COMPONENTS": 8, "R_DATA_TYPE": 2, "G_DATA_TYPE": 2, "B_DATA_TYPE": 2, "A_DATA_TYPE": 2, "X_SOURCE": 2,
    "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5, "WIDTH_MINUS_ONE": TEXELS - 1, "HEIGHT_MINUS_ONE": TEXELS - 1,
    "NORMALIZED_COORDS": 1, "TEXTURE_TYPE": 1, "HEADER_VERSION": 2, "PITCH_BITS20TO5": 4 * TEXELS >> 5,
}  # fmt: skip
FONT = {
    "WIDTH_MINUS_ONE": FONT_TEXELS - 1, "HEIGHT_MINUS_ONE": FONT_TEXELS - 1, "PITCH_BITS20TO5": 4 * FONT_TEXELS >> 5
}  # fmt: skip
METHODS = (
    "SET_COLOR_TARGET_A", "SET_COLOR_TARGET_WIDTH", "SET_COLOR_CLEAR_VALUE", "CLEAR_SURFACE",
    "SET_PROGRAM_REGION_A", "SET_PIPELINE_SHADER", "SET_PIPELINE_PROGRAM", "SET_PIPELINE_REGISTER_COUNT",
    "SET_CONSTANT_BUFFER_SELECTOR_A", "BIND_GROUP_CONSTANT_BUFFER", "SET_TEX_HEADER_POOL_A", "SET_TEX_SAMPLER_POOL_A",
    "SET_BINDLESS_TEXTURE", "SET_VERTEX_STREAM_A_FORMAT", "SET_VERTEX_STREAM_A_LOCATION_A",
    "SET_VERTEX_STREAM_LIMIT_A_A", "SET_VERTEX_ARRAY_START", "BEGIN", "DRAW_VERTEX_ARRAY", "END",
    "SET_REPORT_SEMAPHORE_A", "INCREMENT_SYNC_POINT",
)  # fmt: skip
HOST = ("SET_OBJECT", "SYNCPOINTA", "SYNCPOINTB", "SEMAPHOREA")


def array(name: str, words: Iterable[int]) -> str:
    texts = [f"0x{word:08X}," for word in words]
    lines = [" ".join(texts[at : at + 10]) for at in range(0, len(texts), 10)]
    return f"static const u32 {name}[] = {{\n    " + "\n    ".join(lines) + "\n};"


def words(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data)


def main() -> None:
    print("/* Made by make_scene.py. */")
    print("#ifndef SCENE_DATA\n#define SCENE_DATA")
    for name in METHODS:
        method = B197[name]
        print(f"#define {name} 0x{(method(0) if method.count > 1 else method).word:03X}")
    for name, method in (("PIPELINE", B197["SET_PIPELINE_SHADER"]), ("GROUP", B197["BIND_GROUP_CONSTANT_BUFFER"])):
        print(f"#define {name}_STRIDE 0x{method(1).word - method(0).word:X}")
    for name in HOST:
        print(f"#define HOST_{name} 0x{B06F[name].word:03X}")
    values = {
        "CLEAR_ALL": (B197, "CLEAR_SURFACE", {f"{one}_ENABLE": True for one in "RGBA"}),
        "BIND_SLOT_0": (B197, "BIND_GROUP_CONSTANT_BUFFER", {"VALID": True, "SHADER_SLOT": 0}),
        "VERTEX_ON": (B197, "SET_PIPELINE_SHADER", {"ENABLE": True, "TYPE": "VERTEX"}),
        "PIXEL_ON": (B197, "SET_PIPELINE_SHADER", {"ENABLE": True, "TYPE": "PIXEL"}),
        "TRIANGLES": (B197, "BEGIN", {"OP": "TRIANGLES"}),
        "RELEASE": (B197, "SET_REPORT_SEMAPHORE_D", {"STRUCTURE_SIZE": "ONE_WORD"}),
        "ACQUIRE": (B06F, "SEMAPHORED", {"OPERATION": "ACQUIRE", "ACQUIRE_SWITCH": "ENABLED"}),
        "WAIT_SYNCPOINT": (B06F, "SYNCPOINTB", {"OPERATION": "WAIT", "WAIT_SWITCH": "EN", "SYNCPT_INDEX": 0}),
        "INCREMENT": (B06F, "SYNCPOINTB", {"OPERATION": "INCR", "SYNCPT_INDEX": 0}),
    }
    for name, (table, method, fields) in values.items():
        print(f"#define {name} 0x{int(encode_register(table[method], fields)):08X}u")
    rows = -(-HEIGHT // BLOCK_ROWS) * BLOCK_ROWS
    print(f"enum {{ ROWS_OF_IMAGE = {rows} }};")
    print(f"enum {{ WIDTH = {WIDTH}, HEIGHT = {HEIGHT}, TEXELS = {TEXELS}, CLASS_3D = 0x{B197.class_id:X} }};")
    texture = words(struct.pack("<8I", *TIC["PITCH"].pack(HEADER)))
    low = words(struct.pack("<8I", *TIC["PITCH"].pack({"ADDRESS_BITS31TO5": 1})))
    high = words(struct.pack("<8I", *TIC["PITCH"].pack({"ADDRESS_BITS47TO32": 1})))
    place = [next(n for n, word in enumerate(one) if word) for one in (low, high)]
    print(f"enum {{ ADDRESS_LOW = {place[0]}, ADDRESS_HIGH = {place[1]} }};")
    print(array("texture_header", texture))
    print(array("sampler", TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})))
    print(f"enum {{ FONT_TEXELS = {FONT_TEXELS} }};")
    print(array("font_header", words(struct.pack("<8I", *TIC["PITCH"].pack(HEADER | FONT)))))
    print(array("nearest_sampler", TSC.pack({"MAG_FILTER": 1, "MIN_FILTER": 1})))
    print(array("vertex_program", words(shader("vertex", VERTEX).image)))
    print(array("pixel_program", words(shader("pixel", PIXEL).image)))
    state = PushBuffer().plain_state().viewport(0, 0, WIDTH, HEIGHT)
    state.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=WIDTH)
    state.method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=HEIGHT)
    state.method("SET_VERTEX_STREAM_A_FORMAT", 0, STRIDE=24, ENABLE=True)
    state.attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT").attribute(1, 0, 16, "R32_G32", "FLOAT")
    state.method("SET_COLOR_TARGET_FORMAT", 0, V=0xD5)
    state.method("SET_COLOR_TARGET_MEMORY", 0, BLOCK_HEIGHT=4, LAYOUT="BLOCKLINEAR")
    state.method("SET_COLOR_TARGET_THIRD_DIMENSION", 0, 1, 0, 0)
    state.method("SET_CLEAR_SURFACE_CONTROL", USE_SCISSOR0=False)
    print(array("state", np.asarray(state.words).tolist()))
    print("#endif")


if __name__ == "__main__":
    main()
