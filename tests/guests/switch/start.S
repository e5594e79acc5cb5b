/* The beginning of an image: header, module header (MOD0), and the code that a loader jumps to.
 *
 * x0: the entries of the homebrew loader, x1: -1. With x1 different and x0 not 0 it is an exception: x0 is its kind.
 * Source: libnx's nro.h, switch_crt0.s and exception.s. */
    .file "start.S"
    .section .start, "ax"
    .global start
    .type start, %function
start:
    .cfi_startproc
    .cfi_undefined x30
    b .Lbegin
    .word mod0 - start
    .ascii "HOMEBREW"
    .space 0x70                         /* the rest of the header: make_nro.py */
.Lbegin:
    cmn x1, #1
    b.eq 1f
    cbz x0, 1f
    b exception_begins
1:  stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
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
    adrp x9, first_stack
    mov x10, sp
    str x10, [x9, #:lo12:first_stack]
    adr x0, start
    ldrsw x1, [x8, #4]
    add x1, x1, x8
    bl relocate
    mov x0, x19
    bl run_main
    b leave
    .cfi_endproc
    .size start, . - start

/* leave(result): back to the loader, from anywhere. */
    .global leave
    .type leave, %function
leave:
    .cfi_startproc
    .cfi_undefined x30
    adrp x9, first_stack
    ldr x10, [x9, #:lo12:first_stack]
    mov sp, x10
    ldp x29, x30, [sp], #16
    ret
    .cfi_endproc
    .size leave, . - leave

/* How a thread of thread_start begins: x0 is its argument, and its function is at the top of the stack. */
    .global thread_begins
    .type thread_begins, %function
thread_begins:
    .cfi_startproc
    .cfi_undefined x30
    ldr x1, [sp]
    mov x29, xzr
    blr x1
    svc #0x0A
    .cfi_endproc
    .size thread_begins, . - thread_begins

/* A program without a handler of exceptions tells that it has none: its fault ends it. */
    .weak exception_begins
    .type exception_begins, %function
exception_begins:
    mov w0, #0xF801                     /* the kernel's "not handled" */
    svc #0x28
    .size exception_begins, . - exception_begins

    .balign 4
mod0:
    .ascii "MOD0"
    .word _DYNAMIC - mod0
    .word __bss_start - mod0
    .word __bss_end - mod0
    .word __frames_start - mod0
    .word __frames_end - mod0
    .word 0                             /* no module object */

    .section .bss.first_stack, "aw", %nobits
    .balign 8
first_stack:
    .space 8
