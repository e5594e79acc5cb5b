/* Ends of programs that they did not mean, one for each argument. The lines of the marked places are in the test. */
#include "runtime.h"
static const u32 constant[4] = {1, 2, 3, 4};
static u64 room[64];
static volatile u32 sink;

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
KEEP static void breakpoint(void) {
    __asm__ volatile("brk #3");                                     /* LINE breakpoint */
}
KEEP static u64 exclusive(u64 at) {
    u64 value;
    __asm__ volatile("ldxr %0, [%1]" : "=r"(value) : "r"(at));      /* LINE misaligned */
    return value;
}
KEEP static u64 of_the_system(void) {
    u64 value;
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(value));            /* LINE system */
    return value;
}
KEEP static void monitor(void) {
    __asm__ volatile("smc #0");                                     /* LINE monitor */
}
KEEP static u64 pair(u64 at) {
    u64 one, two;
    __asm__ volatile("ldp %0, %1, [%2]" : "=&r"(one), "=r"(two) : "r"(at)); /* LINE pair */
    return one + two;
}
KEEP static void vector(u64 at) {
    __asm__ volatile("st1 {v0.16b}, [%0]" : : "r"(at) : "memory");  /* LINE vector */
}
KEEP static void stop(u32 reason) {
    svc_break(reason, 0, 0, 0, 0, 0, 0);                            /* LINE break */
    say("went on\n");
}
KEEP static u32 deeper(u32 depth) {
    sink = depth ? deeper(depth - 1) : store((u32 *)4, 5);          /* LINE deeper */
    return sink + depth;
}
KEEP static u32 overflow(u32 depth) {
    volatile u32 much[64];
    much[0] = depth;
    return (sink ? overflow(depth + 1) : 0) + much[0];
}
KEEP static void second(u64 value) {
    sink = store((u32 *)8, (u32)value);
}
KEEP static void in_a_thread(void) {
    sink = wait_for(thread_start(second, 9, 0x2D), FOREVER);
}
KEEP static void forever(void) {
    u64 reply[4];
    check(svc_create_event(0, 0, 0, 0, 0, 0, reply), "CreateEvent");
    sink = wait_for((u32)reply[1], FOREVER);                        /* LINE forever */
}
KEEP static u32 leaves(u32 result) {
    if (result) leave((int)result);
    return 1;
}
KEEP static void chain(void) {
    const char *path = "sdmc:/switch/other.nro";
    char *to = (char *)entry_value(NEXT_LOAD, 0);
    while ((*to++ = *path++)) ;
}
KEEP static u32 vectors_stay(u32 count) {
    double before = (double)count + 0.5, after;
    __asm__ volatile("fmov d9, %d0" : : "w"(before) : "d9");
    svc_sleep(1000, 0, 0, 0, 0, 0, 0);
    __asm__ volatile("fmov %d0, d9" : "=w"(after) : : "d9");
    return after == before;
}

int main(void) {
    const char *what = argument(1);
    if (!what) what = "write";
    say(what); say("\n");
    if (equal(what, "write")) sink = store((u32 *)4, 5);
    else if (equal(what, "constant")) sink = store((u32 *)constant + 1, 5);
    else if (equal(what, "code")) sink = store((u32 *)store, 5);
    else if (equal(what, "read")) sink = load((u32 *)0x5000000000);
    else if (equal(what, "high")) sink = load((u32 *)0xFFFF000000000010);
    else if (equal(what, "jump")) sink = jump((u32 (*)(u32))0x10);
    else if (equal(what, "data")) sink = jump((u32 (*)(u32))room);
    else if (equal(what, "nowhere")) sink = jump((u32 (*)(u32))0xFFFFFFFFFFFFFFFC);
    else if (equal(what, "odd")) sink = jump((u32 (*)(u32))((u64)store + 2));
    else if (equal(what, "undefined")) undefined();
    else if (equal(what, "breakpoint")) breakpoint();
    else if (equal(what, "misaligned")) sink = (u32)exclusive((u64)room + 1);
    else if (equal(what, "system")) sink = (u32)of_the_system();
    else if (equal(what, "monitor")) monitor();
    else if (equal(what, "pair")) sink = (u32)pair(8);
    else if (equal(what, "vector")) vector(0x30);
    else if (equal(what, "panic")) stop(0);
    else if (equal(what, "notify")) stop(0x80000000u);
    else if (equal(what, "deeper")) sink = deeper(5);
    else if (equal(what, "overflow")) sink = 1, sink = overflow(0);
    else if (equal(what, "thread")) in_a_thread();
    else if (equal(what, "forever")) forever();
    else if (equal(what, "leave")) sink = leaves(5);
    else if (equal(what, "chain")) chain();
    else if (equal(what, "vectors")) say_number("stayed", vectors_stay(3));
    else if (equal(what, "loop")) for (;;) ;
    else if (equal(what, "wfi")) for (u32 n = 0; n < 3; n++) __asm__ volatile("wfi");
    else if (equal(what, "wfe")) for (u32 n = 0; n < 100; n++) __asm__ volatile("sev\nwfe\nyield");
    else if (equal(what, "cache"))
        __asm__ volatile("dc civac, %0\ndc cvac, %0\ndc cvau, %0\nic ivau, %0\ndsb ish\nisb\ndc zva, %0" : : "r"(room + 8));
    else if (equal(what, "after-call"))
        __asm__ volatile("mov x0, #0\nmov x1, #0\nsvc #0x0B\nudf #1" ::: "x0", "x1");
    else if (equal(what, "return")) __asm__ volatile("mov x30, #0\nret" ::: "x30");
    say("end\n");
    return 0;
}
