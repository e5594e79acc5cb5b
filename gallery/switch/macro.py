"""
A fractal by a macro
====================

A Sierpinski triangle of 729 small squares, violet in one corner, green and pink in the others, which one macro has
cleared one by one.
"""

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.maxwell.mme.assembler import assemble

SIERPINSKI = assemble("""
    mov r2, 63                               ; the row; r1 is the parameter, 0.25 as a float
row:
    mov r3, 63                               ; the column
square:
    mov r4, and(r2, r3)
    bnz r4, next                             ; a common bit of row and column: no square here
    mov r4, extract(r3, 0, 6, 2)             ; runs before the branch is taken: the left edge, 4 * column
    maddr @SET_SCISSOR_HORIZONTAL:1          ; writes go to this method, then to the next one
    mov r5, r4 + 4
    send insert(r4, r5, 0, 16, 16)
    mov r4, extract(r2, 0, 6, 2)
    mov r5, r4 + 4
    send insert(r4, r5, 0, 16, 16)           ; SET_SCISSOR_VERTICAL
    maddr @SET_COLOR_CLEAR_VALUE[0]:1
    mov r4, extract(r3, 0, 6, 18)
    send add(r1, r4)                         ; red, from the column
    mov r4, extract(r2, 0, 6, 18)
    send add(r1, r4)                         ; green, from the row
    maddr @CLEAR_SURFACE
    send 0x3c
next:
    bnz r3, square
    mov r3, r3 - 1
    bnz r2, row
    mov r2, r2 - 1
    exit
    nop
""")
canvas = MaxwellCanvas(256, 256)
canvas.pb.scissor((0, 0, 256, 256)).clear((0.09, 0.12, 0.19, 1.0)).method("SET_COLOR_CLEAR_VALUE", 2, 0.6)
canvas.pb.upload_macro(0, SIERPINSKI, at=0).call_macro(0, 0.25)
canvas.image().resize((512, 512), 0).save("macro.png")

# %%
# The macro engine is a small processor between the pushbuffer and the engines. It has seven registers, adds, shifts and
# branches, and each ``send`` writes a method as if the word had been in the pushbuffer. Drivers keep macros for work
# that repeats, such as a draw with its instances. This one has 24 instructions. It goes through 64 x 64 places and
# clears a square wherever row and column have no common bit, which draws Sierpinski's triangle. The program uploads the
# instructions by :method:`LOAD_MME_INSTRUCTION_RAM`, and one write of :method:`CALL_MME_MACRO` starts them. From that
# word the macro makes thousands of writes of :method:`SET_SCISSOR_HORIZONTAL`, :method:`SET_COLOR_CLEAR_VALUE` and
# :method:`CLEAR_SURFACE`. As macros compute with integers only, the colours are made of bits of floats.
