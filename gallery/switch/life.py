"""
A compute kernel again and again: the Game of Life
==================================================

A glider gun of the Game of Life shoots gliders to the lower right; each step is one launch of a kernel.
"""

import numpy as np

import pocketgpu
from pocketgpu.pictures import animate, to_image

SIDE = 64
GUN = """........................#
......................#.#
............##......##............##
...........#...#....##............##
##........#.....#...##
##........#...#.##....#.#
..........#.....#.......#
...........#...#
............##"""
KERNEL = ".kernel life\n.param now ptr\n.param next ptr\nS2R R0, SR_TID.X\nS2R R1, SR_CTAID.X\nMOV R9, RZ\n"
for n in range(9):  # R8 becomes the cell, R9 the number of its neighbours; the world is a ring both ways
    KERNEL += f"IADD R2, R0, {n % 3 - 1}\nLOP.AND R2, R2, 0x3f\nIADD R3, R1, {n // 3 - 1}\nLOP.AND R3, R3, 0x3f\n"
    KERNEL += "XMAD R2, R3, 0x40, R2\nIADD R2.CC, R2, c[0x0][now]\nIADD.X R3, RZ, c[0x0][now+4]\n"
    KERNEL += "LDG.E.U8 R8, [R2]\n" if n == 4 else "LDG.E.U8 R4, [R2]\nIADD R9, R9, R4\n"
KERNEL += """
        LOP.OR R9, R9, R8                        // 3: three neighbours, or two around a cell that lives
        ISETP.EQ.AND P0, PT, R9, 0x3, PT
        MOV32I R4, 0x1
   @!P0 MOV R4, RZ
        XMAD R2, R1, 0x40, R0
        IADD R2.CC, R2, c[0x0][next]
        IADD.X R3, RZ, c[0x0][next+4]
        STG.E.U8 [R2], R4
        EXIT
"""
life = pocketgpu.RawModule(code=KERNEL).get_function("life")
now, heat, images = np.zeros((SIDE, SIDE), np.uint8), np.zeros((SIDE, SIDE)), []
for y, row in enumerate(GUN.splitlines()):
    now[y + 4, 4 : 4 + len(row)] = [cell == "#" for cell in row]
for _ in range(120):
    after = np.zeros_like(now)
    life((SIDE,), (SIDE,), (now, after))
    now, heat = after, np.maximum(after, heat * 0.8)
    color = np.stack([heat, heat**2 * 0.8 + 0.05, heat**4 * 0.4 + 0.1], axis=2)[:44]
    images.append(to_image((color * 255).astype(np.uint8)))
animate(images, "life.webp", scale=8)

# %%
# A kernel reads one array and writes another, so that no thread sees what its neighbour has already changed; then the
# arrays change places and the kernel is launched again, 120 times here. Each thread owns one cell of 64 x 64, a block
# has a row of them. It loads its eight neighbours with LDG, a load from any address, and adds them up. LOP.AND keeps
# the coordinates within the row, so the world is a ring in both directions. The rule is then one comparison: a cell
# lives if three neighbours do, or if two do and it lived before. In the picture a cell glows for a few steps after it
# died. On a console each launch is a queue metadata of 256 bytes, which a write of :method:`B1C0.SEND_SIGNALING_PCAS_B`
# hands to the scheduler of the compute class.
