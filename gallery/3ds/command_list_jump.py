"""
A command list that is called
=============================

A flower of 90 petals: the draw of a petal is in memory once, and 90 short lists call it, each with other uniforms.
"""

import numpy as np

from pocketgpu.builder import Buffer, Canvas, CommandList, assemble

PROGRAM = assemble("""
    .fvec place[2], color
    .out o0 position
    .out o1 color
    mov o0.zw, v0
    dp4 o0.x, place[0], v0
    dp4 o0.y, place[1], v0
    mul o1, color, v1
    end""")
canvas = Canvas((30, 44, 40, 255))
canvas.show("vertex color").shader(PROGRAM)

turn = np.linspace(0, 2 * np.pi, 25)
edge = np.column_stack([np.sin(turn) * np.sin(turn / 2) ** 2 * 0.6, (1 - np.cos(turn)) / 2])
rows = [(x, y, -0.5, 1, *[0.35 + 0.4 * y + x] * 3) for x, y in [(0, 0.5), *edge]]
petal = CommandList().attributes(Buffer(canvas.put_floats(rows), [("f32", 4), ("f32", 3)]))
petal.draw_arrays(len(rows), primitive="triangle fan")
if len(petal) % 4 == 0:  # the jump is the last entry of the list
    petal.write("VTX_FUNC", clear=True)
petal.write_word("CMDBUF_JUMP1", 1)
shared = canvas.capture.put(petal.tobytes())

call = CommandList().end_drawing().finalize()
for number in range(90):  # from the last call to the first, as each has the address of the next
    address, size = canvas.capture.put(call.tobytes()), 4 * len(call)
    angle, length = number * 2.39996, 0.2 + 0.085 * np.sqrt(number)
    call = canvas.list if number == 89 else CommandList()
    across, up = length * np.array([np.cos(angle), -np.sin(angle)]), length * np.array([np.sin(angle), np.cos(angle)])
    call.uniforms(0, [(*up, 0, 0), (*(0.6 * across), 0, 0), (1.2, 0.9 - number / 110, 0.2 + number / 180, 1)])
    call.write("CMDBUF_SIZE1", size=size).write("CMDBUF_ADDR1", address=address).jump(shared, 4 * len(petal))
canvas.capture.submit(call)
canvas.new_list()
print(f"the petal's list: {4 * len(petal)} bytes; a call: {size} bytes")
canvas.image().save("command_list_jump.png")

# %%
# A list is a row of register writes. It can go on with another list, by :register:`CMDBUF_ADDR0`,
# :register:`CMDBUF_SIZE0` and a write to :register:`CMDBUF_JUMP0`, which must be the last entry; there is no return,
# but there are two such channels. A caller stores where it wants to go on in :register:`CMDBUF_ADDR1` and
# :register:`CMDBUF_SIZE1`, and jumps to the petal through channel 0. The petal ends with a write to
# :register:`CMDBUF_JUMP1`, and so returns to whoever has called it. A caller here only sets three uniforms, in 112
# bytes. Programs build such lists once and change a few words in each frame. The last list writes
# :register:`FINALIZE`, which ends the work and raises the interrupt P3D. Any value starts a jump, as most sources
# have it (:choice:`list.jump_value`), and a list is a multiple of 16 bytes at an address that is one too.
