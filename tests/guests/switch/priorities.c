/* Who runs: priorities that are passed on, yields, slices, cores; and what is told about threads. */
#include "kernel_calls.h"

#define WAITERS 0x40000000u
#define NORMAL 0x2C
#define SLICED 0x3B
static volatile u32 mutex, other_mutex, key, order, spins[4], stop, ready;
static u32 own_handle[8], main_thread;
static u64 reply[4], stacks[8][512] __attribute__((aligned(16)));
void thread_begins(void);

static void take(volatile u32 *which, u32 own) {
    while (*which) {
        u32 owner = *which;
        if ((owner & ~WAITERS) == own) return;
        *which = owner | WAITERS;
        svc_arbitrate_lock(owner & ~WAITERS, (u64)which, own, 0, 0, 0, 0);
        if ((*which & ~WAITERS) == own) return;
    }
    *which = own;
}
static void give(volatile u32 *which, u32 own) {
    if (*which == own) *which = 0;
    else svc_arbitrate_unlock((u64)which, 0, 0, 0, 0, 0, 0);
}
static u32 make_on(void (*function)(u64), u64 n, u32 priority, u64 core) {
    u64 *top = &stacks[n][510];
    *top = (u64)function;
    check(svc_create_thread(0, (u64)thread_begins, n, (u64)top, priority, core, reply), "CreateThread");
    return own_handle[n] = (u32)reply[0];
}
static void start(u32 n) { check(svc_start_thread(own_handle[n], 0, 0, 0, 0, 0, 0), "StartThread"); }
static void make(void (*function)(u64), u64 n, u32 priority) { make_on(function, n, priority, (u64)-2); start((u32)n); }
static void join(u32 n) {
    check(wait_for(own_handle[n], FOREVER), "join");
    check(svc_close(own_handle[n], 0, 0, 0, 0, 0, 0), "close");
}
static void sleep_us(u64 us) { svc_sleep(us * 1000, 0, 0, 0, 0, 0, 0); }
static u32 priority_of(u32 handle) {
    check(svc_get_thread_priority(0, handle, 0, 0, 0, 0, reply), "GetThreadPriority");
    return (u32)reply[0];
}
static void noted(u64 n) { order = order * 10 + (u32)n; }

/* -- priorities ------------------------------------------------------------------------------------------------- */
static void takes(u64 n) { take(&mutex, own_handle[n]); noted(n); give(&mutex, own_handle[n]); }
static void takes_both(u64 n) {
    take(&other_mutex, own_handle[n]);
    take(&mutex, own_handle[n]);
    noted(n);
    give(&mutex, own_handle[n]);
    give(&other_mutex, own_handle[n]);
}
static void takes_other(u64 n) { take(&other_mutex, own_handle[n]); noted(n); give(&other_mutex, own_handle[n]); }
static void waits_for_key(u64 n) {
    take(&mutex, own_handle[n]);
    svc_wait_key((u64)&mutex, (u64)&key, own_handle[n], FOREVER, 0, 0, 0);
    noted(n);
    give(&mutex, own_handle[n]);
}
static void inherited(void) {
    order = 0;
    take(&mutex, main_thread);
    make(takes, 1, 0x2A);
    say_hex("one waits", priority_of(CURRENT_THREAD));
    make(takes, 2, 0x28);
    say_hex("a better one", priority_of(CURRENT_THREAD));
    check(svc_set_thread_priority(CURRENT_THREAD, 0x2B, 0, 0, 0, 0, 0), "SetThreadPriority");
    say_hex("changed meanwhile", priority_of(CURRENT_THREAD));
    check(svc_set_thread_priority(CURRENT_THREAD, 0x20, 0, 0, 0, 0, 0), "SetThreadPriority");
    say_hex("to a better one", priority_of(CURRENT_THREAD));
    check(svc_set_thread_priority(CURRENT_THREAD, NORMAL, 0, 0, 0, 0, 0), "SetThreadPriority");
    give(&mutex, main_thread);
    say_hex("given back", priority_of(CURRENT_THREAD));
    join(1); join(2);
    say_number("in order", order);
    order = 0;
    take(&mutex, main_thread);
    make(takes_both, 1, 0x2B);
    make(takes_other, 2, 0x25);
    say_hex("of a chain", priority_of(CURRENT_THREAD));
    say_hex("  its middle", priority_of(own_handle[1]));
    give(&mutex, main_thread);
    join(1); join(2);
    say_hex("  after it", priority_of(CURRENT_THREAD));
    say_number("  in order", order);
    order = 0;
    make(waits_for_key, 1, 0x29);
    take(&mutex, main_thread);
    svc_signal_key((u64)&key, 1, 0, 0, 0, 0, 0);
    say_hex("woken for it", priority_of(CURRENT_THREAD));
    give(&mutex, main_thread);
    say_hex("  and after", priority_of(CURRENT_THREAD));
    join(1);
}
/* -- yields ----------------------------------------------------------------------------------------------------- */
static void spinning(u64 n) { while (!stop) spins[n]++; }
static void yielding(u64 n) { for (u32 i = 0; i < 3; i++) { noted(n); svc_sleep(0, 0, 0, 0, 0, 0, 0); } }
static void yields(void) {
    order = 0;
    make(yielding, 1, NORMAL); make(yielding, 2, NORMAL);
    for (u32 i = 0; i < 4; i++) { noted(0); svc_sleep(0, 0, 0, 0, 0, 0, 0); }
    join(1); join(2);
    say_number("in turns", order);
    order = 0;
    make(yielding, 1, NORMAL + 1);
    svc_sleep(0, 0, 0, 0, 0, 0, 0);
    svc_sleep((u64)-1, 0, 0, 0, 0, 0, 0);
    say_number("not to worse ones", order);
    svc_sleep((u64)-2, 0, 0, 0, 0, 0, 0);
    say_number("unless to all", order);
    join(1);
    for (u32 n = 1; n < 3; n++) make(spinning, n, SLICED);
    sleep_us(45000);
    stop = 1;
    join(1); join(2);
    u64 all = spins[1] + spins[2];
    say_number("slices", spins[1] > all / 4 && spins[2] > all / 4);
}
static volatile u32 core_of[4];
static void tells_core(u64 n) { core_of[n] = svc_get_current_processor(0, 0, 0, 0, 0, 0, 0) + 1; while (!stop) { } }
static void cores(void) {
    stop = 0;
    make_on(tells_core, 1, NORMAL + 1, 0);
    check(svc_set_thread_core_mask(own_handle[1], 0, 7, 0, 0, 0, 0), "SetThreadCoreMask");
    start(1);
    while (!core_of[1]) { }                             /* it runs elsewhere meanwhile */
    say_number("taken by another core", core_of[1] - 1);
    check(svc_get_thread_core_mask(0, 0, own_handle[1], 0, 0, 0, reply), "GetThreadCoreMask");
    say_number("  prefers", reply[0]);
    say_number("  may have", reply[1]);
    stop = 1;
    join(1);
}
/* -- what is told ----------------------------------------------------------------------------------------------- */
struct context { u64 x[29], fp, lr, sp, pc; u32 flags, pad; u64 v[32][2]; u32 control, status; u64 own; };
static struct context found __attribute__((aligned(16)));
static void with_registers(u64 n) {
    __asm__ volatile("movi v0.16b, #0x11\nmovi v31.16b, #0x77\nmov x5, #0x55\nmov x21, #0x66\nmsr tpidr_el0, x21\n"
                     "mov w6, #1\nstr w6, [%0]\n1: ldr w6, [%1]\ncbz w6, 1b" : : "r"(&ready), "r"(&stop)
                     : "x5", "x6", "x21", "v0", "v31", "memory");
    (void)n;
}
static void sleeps(u64 n) {
    __asm__ volatile("mov x21, #0x99\nmov x0, #0x4240\nmovk x0, #0xF, lsl #16\nsvc #0x0B" ::: "x0", "x21", "memory");
    (void)n;
}
static void contexts(void) {
    stop = ready = 0;
    make_on(with_registers, 1, NORMAL, 1);
    start(1);
    while (!ready) { }
    check(svc_set_thread_activity(own_handle[1], 1, 0, 0, 0, 0, 0), "SetThreadActivity");
    check(svc_get_thread_context((u64)&found, own_handle[1], 0, 0, 0, 0, 0), "GetThreadContext3");
    say_hex("x5", found.x[5]);
    say_hex("x21", found.x[21]);
    say_hex("v0", found.v[0][1]);
    say_hex("v31", found.v[31][0]);
    say_hex("own", found.own);
    stop = 1;
    svc_set_thread_activity(own_handle[1], 0, 0, 0, 0, 0, 0);
    join(1);
    make(sleeps, 2, NORMAL - 1);
    check(svc_set_thread_activity(own_handle[2], 1, 0, 0, 0, 0, 0), "SetThreadActivity");
    check(svc_get_thread_context((u64)&found, own_handle[2], 0, 0, 0, 0, 0), "GetThreadContext3");
    say_hex("in a call", found.x[1] | found.x[18]);
    say_hex("  x21", found.x[21]);
    svc_set_thread_activity(own_handle[2], 0, 0, 0, 0, 0, 0);
    join(2);
}
static void handles(void) {
    u32 process = (u32)entry_value(PROCESS, 0);
    say_hex("the process", wait_for(process, 1000));
    say_hex("  reset", svc_reset_signal(process, 0, 0, 0, 0, 0, 0));
    say_hex("own thread", wait_for(CURRENT_THREAD, 0));
    say_hex("own process", wait_for(CURRENT_PROCESS, 0));
    u64 ids[8];
    say_hex("processes", svc_get_process_list(0, (u64)ids, 8, 0, 0, 0, reply));
    say_number("  one", reply[0]);
    say_hex("  it is", ids[0]);
    make_on(takes, 1, NORMAL, 0);
    say_hex("threads", svc_get_thread_list(0, (u64)ids, 8, 0, 0, 0, reply));
    say_number("  one", reply[0]);
    svc_close(own_handle[1], 0, 0, 0, 0, 0, 0);
    say_hex("too many asked", svc_get_process_list(0, (u64)ids, 0x80000000, 0, 0, 0, reply));
    say_hex("no memory", svc_get_process_list(0, 0x1000, 8, 0, 0, 0, reply));
    check(svc_get_info(0, 9, 0, 0, 0, 0, reply), "GetInfo");
    u32 limit = (u32)reply[0];
    say_hex("threads there are", svc_get_current(0, limit, 1, 0, 0, 0, reply));
    say_number("  one", reply[0]);
    say_hex("threads there can be", svc_get_limit(0, limit, 1, 0, 0, 0, reply));
    say_number("  many", reply[0] > 32);
    say_hex("of what is not there", svc_get_limit(0, limit, 5, 0, 0, 0, reply));
    say_hex("of no limit", svc_get_limit(0, process, 1, 0, 0, 0, reply));
    say_hex("system", svc_get_system_info(0, 2, 0, 0, 0, 0, reply));
    say_number("  first process", reply[0]);
    say_hex("  no such", svc_get_system_info(0, 3, 0, 0, 0, 0, reply));
}
int main(void) {
    main_thread = (u32)entry_value(MAIN_THREAD, 0);
    inherited(); yields(); cores(); contexts(); handles();
    say("done\n");
    return 0;
}
