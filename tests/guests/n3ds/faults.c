/* Ends of programs that they did not mean, one for each argument. The lines of the marked places are in the test. */
#include "homebrew.h"
#define KEEP __attribute__((noinline, noclone))
static u8 stack[0x1000] __attribute__((aligned(8)));
static const u32 constant[4] = {1, 2, 3, 4};
static volatile u32 sink;
static void volatile *volatile wild;

KEEP static u32 store(volatile u32 *at, u32 value) {
    *at = value;                                                    /* LINE write */
    return *at + 1;
}
KEEP static u32 load(volatile u32 *at) {
    return *at + 1;                                                 /* LINE read */
}
KEEP static u32 jump(u32 (*to)(u32)) {
    return to(1) + 1;                                               /* LINE jump */
}
KEEP static void undefined(void) {
    __asm__ volatile("udf #7");                                     /* LINE undefined */
}
KEEP static u32 exclusive(u32 at) {
    u32 value;
    __asm__ volatile("ldrex %0, [%1]" : "=r"(value) : "r"(at));     /* LINE misaligned */
    return value;
}
KEEP static void stop(u32 reason) {
    svc_break(reason, 0, 0, 0, 0, 0, 0);                            /* LINE break */
    say("went on\n");
}
KEEP static void throw_error(u32 type) {
    u32 reply[4], *m = message();
    check(svc_connect(0, (u32)"err:f", 0, 0, 0, 0, reply), "err:f");
    for (u32 i = 0; i < 64; i++) m[i] = 0;
    m[0] = 0x00010800;
    m[1] = type; m[2] = 0xD8E007F7; m[3] = 0x00101234; m[4] = 7; m[5] = 0x12345678; m[6] = 0x00040000;
    if (type == 3) {
        m[9] = 1; m[10] = 0x805; m[11] = 0x00000044;
        for (u32 i = 0; i < 17; i++) m[15 + i] = 0x100 + i;
    }
    if (type == 4) { m[9] = 0x6C6C6168; m[10] = 0x6F; }
    svc_send(reply[0], 0, 0, 0, 0, 0, 0);                           /* LINE error */
}
KEEP static u32 deeper(u32 depth) {
    sink = depth ? deeper(depth - 1) : store((u32 *)4, 5);          /* LINE deeper */
    return sink + depth;
}
KEEP static u32 overflow(u32 depth) {
    volatile u32 room[64];
    room[0] = depth;
    return (sink ? overflow(depth + 1) : 0) + room[0];
}
KEEP static void second(u32 value) {
    sink = store((u32 *)8, value);
    svc_exit_thread(0, 0, 0, 0, 0, 0, 0);
}
KEEP static void in_a_thread(void) {
    u32 reply[4];
    check(svc_create_thread(0x38, (u32)second, 9, (u32)(stack + sizeof stack), (u32)-2, 0, reply), "thread");
    wait_for(reply[0], FOREVER);
}
KEEP static void forever(void) {
    u32 reply[4];
    check(svc_create_event(0, 0, 0, 0, 0, 0, reply), "event");
    wait_for(reply[0], FOREVER);                                    /* LINE forever */
}
void thumb(void);
__asm__(
    ".thumb\n.balign 4\n.type thumb, %function\n.thumb_func\n"
    ".global thumb\nthumb: push {r4, lr}\n movs r0, #0\n ldr r0, [r0]\n pop {r4, pc}\n.size thumb, . - thumb\n.arm\n");

int main(void) {
    const char *what = argument(1);
    if (!what) what = "write";
    say(what); say("\n");
    if (equal(what, "write")) sink = store((u32 *)4, 5);
    else if (equal(what, "constant")) sink = store((u32 *)constant + 1, 5);
    else if (equal(what, "read")) sink = load((u32 *)0x40000000);
    else if (equal(what, "jump")) sink = jump((u32 (*)(u32))0x00000010);
    else if (equal(what, "data")) sink = jump((u32 (*)(u32))stack);
    else if (equal(what, "nowhere")) sink = jump((u32 (*)(u32))0xFFFFFFFE);
    else if (equal(what, "undefined")) undefined();
    else if (equal(what, "misaligned")) sink = exclusive((u32)stack + 1);
    else if (equal(what, "panic")) stop(0);
    else if (equal(what, "assert")) stop(1);
    else if (equal(what, "user")) stop(2);
    else if (equal(what, "library")) stop(3);
    else if (equal(what, "error")) throw_error(0);
    else if (equal(what, "exception")) throw_error(3);
    else if (equal(what, "failure")) throw_error(4);
    else if (equal(what, "deeper")) sink = deeper(5);
    else if (equal(what, "overflow")) sink = 1, sink = overflow(0);
    else if (equal(what, "thread")) in_a_thread();
    else if (equal(what, "forever")) forever();
    else if (equal(what, "thumb")) thumb();
    else if (equal(what, "thumb-loop")) __asm__ volatile("ldr r0, =1f + 1\nbx r0\n.ltorg\n.thumb\n1: b 1b\n.balign 4\n.arm" ::: "r0");
    else if (equal(what, "loop")) for (;;) ;
    else if (equal(what, "wfi")) for (u32 n = 0; n < 3; n++) __asm__ volatile("wfi");
    else if (equal(what, "after-call"))
        __asm__ volatile("mov r0, #0\nmov r1, #0\nsvc 0x0A\nudf #1" ::: "r0", "r1");
    else if (equal(what, "after-hint")) __asm__ volatile("movs r0, #1\nwfeeq\nudf #2" ::: "r0", "cc");
    else if (equal(what, "yield")) for (u32 n = 0; n < 100; n++) __asm__ volatile("yield");
    else if (equal(what, "return")) { wild = 0; __asm__ volatile("mov lr, #0\nbx lr"); }
    say("end\n");
    return (int)sink;
}
