/* The beginning of an image: header, module header (MOD0), and the code that a loader jumps to.
 *
 * x0: the entries of the homebrew loader, x1: -1. With x1 different and x0 not 0 it is an exception, which this program
 * does not handle. Source: libnx's nro.h, switch_crt0.s and exception.s. Licence: 0BSD. */
    .section .start, "ax"
    .global start
start:
    b .Lbegin
    .word mod0 - start
    .ascii "HOMEBREW"
    .space 0x70                         /* the rest of the header: make_nro.py */
.Lbegin:
    cmn x1, #1
    b.eq 1f
    cbz x0, 1f
    mov w0, #0xF801                     /* the kernel's "not handled" */
    svc #0x28
1:  stp x29, x30, [sp, #-16]!
    mov x29, xzr
    mov x19, x0
    adr x8, mod0
    ldrsw x9, [x8, #8]
    ldrsw x10, [x8, #12]
    add x9, x9, x8
    add x10, x10, x8
    b 3f
2:  stp xzr, xzr, [x9], #16
3:  cmp x9, x10
    b.lo 2b
    adr x0, start
    ldrsw x1, [x8, #4]
    add x1, x1, x8
    bl relocate
    mov x0, x19
    bl run_main
    ldp x29, x30, [sp], #16
    ret

    .balign 4
mod0:
    .ascii "MOD0"
    .word _DYNAMIC - mod0
    .word __bss_start - mod0
    .word __bss_end - mod0
    .word 0                             /* no frames for debuggers, */
    .word 0
    .word 0                             /* and no module object */
