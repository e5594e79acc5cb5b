/* A program with a handler of exceptions. Argument 1 says what the handler does, argument 2 what goes wrong. */
#include "runtime.h"
struct frame { u64 x[9], lr, sp, pc; u32 flags, afsr0, afsr1, syndrome; u64 address; };
static struct frame seen;
static u64 kind, left_x20;
static volatile u32 mode, calls, sink;
static u8 stack[0x1000] __attribute__((aligned(16)));

/* The kernel comes back here after ReturnFromException, if the handler says so. */
static void goes_on_here(u64 value) {
    say_hex("kind", kind);
    say_hex("address", seen.address);
    say_hex("syndrome", seen.syndrome);
    say_hex("x1", seen.x[1]);
    say_hex("passed", value);
    say_hex("x20 stayed", left_x20);
    if (mode == 2) svc_break(0, 0, 0, 0, 0, 0, 0);          /* LINE break */
    leave(9);
}

/* What start.S calls for an exception, on a small stack of the kernel's: no more than a few lines. */
void exception_begins(u64 type, struct frame *frame) {
    u64 x20;
    __asm__ volatile("mov %0, x20" : "=r"(x20));
    kind = type;
    seen = *frame;
    left_x20 = x20;
    calls++;
    u32 result = 0;
    switch (mode) {
    case 0: frame->pc += 4; frame->x[1] = 0x1234; frame->flags = 1u << 30; break;   /* after the instruction */
    case 1: case 2:
        frame->pc = (u64)goes_on_here;
        frame->sp = (u64)(stack + sizeof stack);
        frame->x[0] = 0x5678;
        break;
    case 3: result = 0xF801; break;                         /* nobody handles it */
    case 4: sink = *(volatile u32 *)(u64)(mode * 0x11); break;              /* LINE again */
    }
    svc_return_from_exception(result, 0, 0, 0, 0, 0, 0);
}

KEEP static u64 wrong_load(u64 at) {
    u64 value;
    u32 equal_after;
    __asm__ volatile("mov x20, #0x20\nmov x1, #0x11\ncmp x1, #0x12\nmov x2, %2\nldr x1, [x2]\nmov %0, x1\ncset %w1, eq" /* LINE load */
                     : "=&r"(value), "=&r"(equal_after) : "r"(at) : "x1", "x2", "x20", "cc");
    say_number("equal", equal_after);
    return value;
}

int main(void) {
    const char *modes[] = {"skip", "report", "break", "unhandled", "again"}, *text = argument(1);
    mode = 9;
    for (u32 n = 0; text && n < 5; n++) if (equal(text, modes[n])) mode = n;
    const char *what = argument(2);
    if (what && equal(what, "undefined")) __asm__ volatile("mov x20, #0x20\nudf #1" ::: "x20");
    else if (what && equal(what, "jump")) __asm__ volatile("mov x20, #0x20\nmov x3, #0x60\nblr x3" ::: "x20", "x3", "x30");
    else if (what && equal(what, "odd")) __asm__ volatile("mov x20, #0x20\nadr x3, .+6\nbr x3" ::: "x20", "x3");
    else if (what && equal(what, "store")) __asm__ volatile("mov x20, #0x20\nmov x3, #0x60\nstr x3, [x3]" ::: "x20", "x3");
    else if (what && equal(what, "stack"))
        __asm__ volatile("mov x20, #0x20\nmov x3, sp\nsub sp, sp, #8\nmov x0, xzr\nsvc #0x0B\nmov sp, x3" ::: "x0", "x3", "x20", "memory");
    else if (what && equal(what, "breakpoint")) __asm__ volatile("brk #1");
    else if (what && equal(what, "return")) say_hex("result", svc_return_from_exception(0, 0, 0, 0, 0, 0, 0));
    else say_hex("loaded", wrong_load(0x8));
    say_number("calls", calls);
    return 0;
}
