"""
A compute kernel: the Mandelbrot set
====================================

A spiral of the Mandelbrot set in glowing colours; each thread of a kernel has computed one pixel.
"""

import numpy as np

import pocketgpu
from pocketgpu.pictures import to_image

KERNEL = """
.kernel mandelbrot
.param picture u64
        S2R R0, SR_CTAID.X
        S2R R1, SR_TID.X
        XMAD R10, R0, 0x20, R1                  // x: 32 threads of a block beside each other
        S2R R11, SR_CTAID.Y                     // y
        I2F.F32.U32 R4, R10
        I2F.F32.U32 R5, R11
        FMUL32I R4, R4, 0.0000122
        FMUL32I R5, R5, 0.0000122
        FADD32I R4, R4, -0.7483                 // c = R4 + i * R5
        FADD32I R5, R5, 0.1084
        MOV R6, RZ                              // z = R6 + i * R7
        MOV R7, RZ
        MOV R8, RZ                              // steps
        PBK done
again:  FMUL R0, R6, R6
        FMUL R1, R7, R7
        FADD R2, R0, R1
        FSETP.GT.AND P0, PT, R2, 64, PT         // so far away that it will not come back
    @P0 BRK
        FMUL R7, R6, R7
        FFMA R7, R7, 2, R5
        FADD R0, R0, -R1
        FADD R6, R0, R4                         // z = z * z + c
        FADD R8, R8, 1
        FSETP.GT.AND P1, PT, R8, 512, PT
    @P1 BRK
        BRA again
done:"""
for n, phase in enumerate((3.4, 2.8, 2.0)):  # red, green and blue are waves of the steps; what stays is black
    KERNEL += f"FMUL R9, R8, 0.0625\nFADD32I R9, R9, {phase}\nRRO.SINCOS R9, R9\nMUFU.COS R9, R9\n"
    KERNEL += f"FMUL R9, R9, 0.5\nFADD R{n}, R9, 0.5\n@P1 MOV R{n}, RZ\n"
KERNEL += "MOV32I R3, 0x3f800000\nSUST.P.2D.IGN [R10], R0, 0x50\nEXIT\n"

picture = pocketgpu.Surface(np.zeros((360, 640, 4), np.uint8), numbers="unorm")
pocketgpu.RawModule(code=KERNEL).get_function("mandelbrot")((20, 360), (32,), (picture,))
to_image(picture.arrays[0][..., :3]).save("mandelbrot.png")

# %%
