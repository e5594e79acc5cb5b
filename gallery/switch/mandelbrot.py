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
        S2R R0, SR_CTAID.X
        S2R R1, SR_TID.X
        XMAD R10, R0, 0x20, R1                  // x: 32 threads of a block beside each other
        S2R R11, SR_CTAID.Y                     // y
        I2F.F32.U32 R4, R10
        I2F.F32.U32 R5, R11
        FMUL32I R4, R4, 0.000003
        FMUL32I R5, R5, 0.000003
        FADD32I R4, R4, -0.74807                // c = R4 + i * R5
        FADD32I R5, R5, 0.10983
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
done:   MUFU.LG2 R8, R8"""
for n, phase in enumerate((2.6, 3.1, 3.9)):  # red, green and blue are waves of the logarithm; what stays is black
    KERNEL += f"\nFMUL32I R9, R8, 2.2\nFADD32I R9, R9, {phase}\nRRO.SINCOS R9, R9\nMUFU.COS R9, R9\n"
    KERNEL += f"FMUL R9, R9, 0.5\nFADD R{n}, R9, 0.5\n@P1 MOV R{n}, RZ"

picture = pocketgpu.Surface(np.zeros((450, 800, 4), np.uint8), numbers="unorm")
KERNEL += "\nSUST.P.2D.IGN [R10], R0, 0x50\nEXIT"
pocketgpu.RawModule(code=KERNEL).get_function("mandelbrot")((25, 450), (32,), (picture,))
to_image(picture.arrays[0][..., :3]).reduce(2).save("mandelbrot.png")

# %%
# The shader cores also run programs without any triangle. A grid has blocks, a block has threads, and 32 threads form a
# warp, which runs one instruction at a time. Here 25 x 450 blocks of one warp each cover 800 x 450 pixels. A thread
# finds its pixel in SR_CTAID and SR_TID, repeats z = z * z + c until z is far away, and stores a colour by SUST into a
# surface, where a texture header says in which format and order pixels lie. Threads of a warp leave the loop at
# different times: PBK names the place where they meet, and BRK switches a thread off until the last one has come there.
# So a warp takes as long as its slowest thread. A grid is described by 256 bytes, its queue metadata;
# :method:`B1C0.SEND_PCAS_A` gives their address to the compute class.
