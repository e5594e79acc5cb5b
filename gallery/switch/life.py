"""
A compute kernel again and again: the Game of Life
==================================================

A glider gun of the Game of Life shoots gliders to the lower right; each step is one launch of a kernel.
"""

import numpy as np

import pocketgpu
from pocketgpu.pictures import animate, to_image

WIDTH, HEIGHT = 64, 64
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
for dy in (-1, 0, 1):
    for dx in (-1, 0, 1):  # the cell's own state comes into R8, the sum of its neighbours into R9
        KERNEL += f"IADD R2, R0, {dx}\nLOP.AND R2, R2, 0x3f\nIADD R3, R1, {dy}\nLOP.AND R3, R3, 0x3f\n"
        KERNEL += "SHL R3, R3, 0x6\nIADD R2, R2, R3\nIADD R2.CC, R2, c[0x0][now]\nIADD.X R3, RZ, c[0x0][now+4]\n"
        KERNEL += "LDG.E.U8 R8, [R2]\n" if dx == dy == 0 else "LDG.E.U8 R4, [R2]\nIADD R9, R9, R4\n"
KERNEL = KERNEL.replace("LDG.E.U8 R8", "LDG.E.U8 R8") + """
        LOP.OR R9, R9, R8                        // 3, or 2 and alive
        ISETP.EQ.AND P0, PT, R9, 0x3, PT
        SEL R4, 0x1, RZ, P0
        SHL R3, R1, 0x6
        IADD R2, R0, R3
        IADD R2.CC, R2, c[0x0][next]
        IADD.X R3, RZ, c[0x0][next+4]
        STG.E.U8 [R2], R4
        EXIT
"""
