"""Writes lists.h: the parts of command lists that the guest programs put together, made with pocketgpu's builder.

    python tests/guests/n3ds/make_lists.py > tests/guests/n3ds/lists.h

What changes from frame to frame, uniforms, is added by the programs themselves. A test compares the file.
"""

from __future__ import annotations

import textwrap

from pocketgpu.builder import Buffer, CommandList, assemble

LINEAR = 0x20000000
PLACES = {
    "VERTICES": LINEAR, "INDICES": LINEAR + 0x1000, "TEXTURE": LINEAR + 0x10000, "LIST": LINEAR + 0x40000,
    "COLOR": 0x18000000, "DEPTH": 0x18100000, "RENDERED": 0x18200000, "RENDERED_DEPTH": 0x18220000,
}  # fmt: skip
"""Physical addresses."""
TEXTURE_SIZE = 64
RENDERED_SIZE = 128
INDEX_COUNT = 36
PROGRAM = """
.alias matrix c0
.alias rotation c4
.alias light c7
.constf c8, 0.0, 0.25, 1.0, 1.0
.out o0 position
.out o1 color
.out o2.xy texcoord0
main:
    dp4 o0.x, matrix[0], v0
    dp4 o0.y, matrix[1], v0
    dp4 o0.z, matrix[2], v0
    dp4 o0.w, matrix[3], v0
    dp3 r0.x, rotation[0], v1
    dp3 r0.y, rotation[1], v1
    dp3 r0.z, rotation[2], v1
    dp3 r1, light, r0
    max r1, c8.xxxx, r1
    add r1.xyz, c8.yyy, r1
    mov r1.w, c8.wwww
    mov o1, r1
    mov o2.xy, v2
    end
"""


def lists() -> dict[str, list[int]]:
    """The words of the parts by name."""
    modulate = ("modulate", "texture 0", "vertex color")
    state = CommandList().plain_state().depth("greater").combiner(0, modulate, modulate)
    state.attributes(Buffer(PLACES["VERTICES"], [("f32", 3), ("f32", 3), ("f32", 2)]), base=LINEAR)
    found = {"STATE": state.shader(assemble(PROGRAM))}
    for name, height in (("TOP", 400), ("BOTTOM", 320), ("WIDE", 800)):
        found[name] = CommandList().render_target(PLACES["COLOR"], 240, height, depth=PLACES["DEPTH"])
    found["SMALL"] = CommandList().render_target(
        PLACES["RENDERED"], RENDERED_SIZE, RENDERED_SIZE, depth=PLACES["RENDERED_DEPTH"]
    )
    found["IMAGE"] = CommandList().texture(0, PLACES["TEXTURE"], TEXTURE_SIZE, TEXTURE_SIZE, filter="linear")
    found["PICTURE"] = CommandList().texture(0, PLACES["RENDERED"], RENDERED_SIZE, RENDERED_SIZE, filter="linear")
    found["END"] = CommandList().end_drawing().finalize()
    words = {name: one.words.tolist() for name, one in found.items()}
    drawn = state.draw_elements(INDEX_COUNT, PLACES["INDICES"]).words.tolist()
    return words | {"CUBE": drawn[len(words["STATE"]) :]}


def header() -> str:
    """The whole file."""
    lines = ["/* Made by make_lists.py; do not edit. */", "#pragma once"]
    lines += [f"#define {name} 0x{value:08X}u" for name, value in PLACES.items()]
    lines += [f"#define TEXTURE_SIZE {TEXTURE_SIZE}", f"#define RENDERED_SIZE {RENDERED_SIZE}"]
    for name, words in lists().items():
        body = textwrap.indent(textwrap.fill(", ".join(f"0x{word:08X}" for word in words), 116), "    ")
        lines += [f"static const u32 LIST_{name}[] __attribute__((unused)) = {{", body, "};"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(header(), end="")
