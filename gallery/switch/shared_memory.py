"""
Shared memory: sorting colours
==============================

Rows of colours, mixed at the top and in the order of the rainbow at the bottom; a kernel has sorted them step by step.
"""

import colorsys

import numpy as np

import pocketgpu
from pocketgpu.pictures import to_image

COUNT, ROW = 256, 12
KERNEL = f"""
.kernel sort
.shared {4 * COUNT}
.param rows ptr
        S2R R0, SR_TID.X
        SHL R1, R0, 0x2                          // the thread's own number is at this offset
        MOV R2, c[0x0][rows]
        MOV R3, c[0x0][rows+4]
        IADD R2.CC, R2, R1
        IADD.X R3, R3, RZ
        LDG.E R4, [R2]
        STS [R1], R4
        BAR.SYNC 0x0
"""
steps = [(size, 1 << n) for size in (2, 4, 8, 16, 32, 64, 128, 256) for n in range(size.bit_length() - 2, -1, -1)]
for number, (size, distance) in enumerate(steps):
    KERNEL += f"""
        LOP.XOR R5, R1, {4 * distance:#x}
        LDS R6, [R5]                             // the number of the partner
        LOP.AND R7, R0, {distance:#x}            // this is the upper one of the two, or
        LOP.AND R8, R0, {size:#x}                // it lies where the order goes down
        ISETP.NE.AND P0, PT, R7, RZ, PT
        ISETP.NE.XOR P0, PT, R8, RZ, P0
        IMNMX.U32 R4, R4, R6, !P0                // keeps the smaller or the larger one
        BAR.SYNC 0x0
        STS [R1], R4
        STG.E [R2+{4 * COUNT * (number + 1):#x}], R4
        BAR.SYNC 0x0
"""
rows = np.zeros((len(steps) + 1, COUNT), np.uint32)
rows[0] = np.random.default_rng(2).permutation(COUNT)
pocketgpu.RawModule(code=KERNEL + "EXIT\n").get_function("sort")((1,), (COUNT,), (rows,))
rainbow = np.array([colorsys.hsv_to_rgb(0.8 * n / COUNT, 0.8, 0.95) for n in range(COUNT)]) * 255
picture = np.repeat(np.repeat(rainbow[rows].astype(np.uint8), ROW, axis=0), 3, axis=1)
to_image(picture).save("shared_memory.png")

# %%
# The threads of a block have memory of their own, up to 48 KB inside of the processor, and they can wait for each
# other. Here 256 threads sort 256 numbers by a sorting network. In each step a thread looks at the number of one
# partner, whose place differs in one bit, and keeps the smaller or the larger of the two; a row of the picture shows
# all numbers after a step, as colours. STS and LDS store and load shared memory, and BAR.SYNC holds every thread until
# all have come there: once so that nobody overwrites what a partner still has to read, and once so that nobody reads
# too early. 36 steps sort any 256 numbers, whatever their order was. How much shared memory a block needs is in the
# queue metadata that :method:`B1C0.SEND_PCAS_A` points to.
