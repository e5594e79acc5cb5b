/* Kernel objects, with what is odd about each. */
#include "runtime.h"

#define WAITERS 0x40000000u
#define NORMAL 0x2C
#define BETTER 0x2B
#define WORSE 0x2D
static volatile u32 mutex, key, word, order, woken, results[8];
static u32 own_handle[8], event_write, event_read, main_thread;

/* -- locks, as programs make them ------------------------------------------------------------------------------- */
static void lock(u32 own) {
    for (;;) {
        u32 owner = mutex;
        if (!owner) { mutex = own; return; }
        mutex = owner | WAITERS;
        svc_arbitrate_lock(owner & ~WAITERS, (u64)&mutex, own, 0, 0, 0, 0);
        if ((mutex & ~WAITERS) == own) return;
    }
}
static void unlock(u32 own) {
    if (mutex == own) mutex = 0;
    else svc_arbitrate_unlock((u64)&mutex, 0, 0, 0, 0, 0, 0);
}
static void noted(u32 n) { order = order * 10 + n; }
/* A thread that knows its handle: created, then started. */
static u32 make(void (*function)(u64), u64 n, u32 priority);

static void takes_lock(u64 n) { lock(own_handle[n]); noted((u32)n); unlock(own_handle[n]); }
static void waits_for_key(u64 n) {
    lock(own_handle[n]);
    results[n] = svc_wait_key((u64)&mutex, (u64)&key, own_handle[n], FOREVER, 0, 0, 0);
    noted((u32)n);
    unlock(own_handle[n]);
}
static void waits_a_while(u64 n) {
    lock(own_handle[n]);
    results[n] = svc_wait_key((u64)&mutex, (u64)&key, own_handle[n], 1000000, 0, 0, 0);
    if (results[n]) lock(own_handle[n]);
    noted((u32)n);
    unlock(own_handle[n]);
}
static void waits_for_event(u64 n) { results[n] = wait_for(event_read, FOREVER); noted((u32)n); }
static void waits_for_itself(u64 n) { results[n] = wait_for(own_handle[n], FOREVER); noted((u32)n); }
static void waits_for_word(u64 n) {
    results[n] = svc_wait_address((u64)&word, 2, word, FOREVER, 0, 0, 0);
    noted((u32)n);
}
static void only_notes(u64 n) { noted((u32)n); }
static void counts(u64 n) { for (;;) { woken++; svc_sleep(1000000, 0, 0, 0, 0, 0, 0); } }

static u64 stacks[8][512] __attribute__((aligned(16)));
void thread_begins(void);
static u32 create(void (*function)(u64), u64 n, u32 priority) {
    u64 reply[4], *top = &stacks[n][510];
    *top = (u64)function;
    check(svc_create_thread(0, (u64)thread_begins, n, (u64)top, priority, (u64)-2, reply), "CreateThread");
    return own_handle[n] = (u32)reply[0];
}
static u32 make(void (*function)(u64), u64 n, u32 priority) {
    u32 handle = create(function, n, priority);
    check(svc_start_thread(handle, 0, 0, 0, 0, 0, 0), "StartThread");
    return handle;
}
static void join(u32 n) { check(wait_for(own_handle[n], FOREVER), "join"); check(svc_close(own_handle[n], 0, 0, 0, 0, 0, 0), "close"); }
static void sleep_us(u64 us) { svc_sleep(us * 1000, 0, 0, 0, 0, 0, 0); }
static void new_event(void) {
    u64 reply[4];
    check(svc_create_event(0, 0, 0, 0, 0, 0, reply), "CreateEvent");
    event_write = (u32)reply[0]; event_read = (u32)reply[1];
}
static void close_event(void) { svc_close(event_write, 0, 0, 0, 0, 0, 0); svc_close(event_read, 0, 0, 0, 0, 0, 0); }

/* -- threads ---------------------------------------------------------------------------------------------------- */
static void threads(void) {
    u64 reply[4];
    order = 0;
    u32 handle = create(only_notes, 1, BETTER);
    say_number("created only", order);
    say_hex("not ended", wait_for(handle, 0));
    svc_start_thread(handle, 0, 0, 0, 0, 0, 0);
    say_number("a better one runs at once", order);
    say_hex("started twice", svc_start_thread(handle, 0, 0, 0, 0, 0, 0));
    say_hex("ended", wait_for(handle, 0));
    svc_close(handle, 0, 0, 0, 0, 0, 0);
    order = 0;
    make(only_notes, 1, WORSE); make(only_notes, 2, NORMAL); make(only_notes, 3, NORMAL);
    say_number("equals and worse ones wait", order);
    svc_sleep(0, 0, 0, 0, 0, 0, 0);
    say_number("equals after a yield", order);
    svc_sleep((u64)-2, 0, 0, 0, 0, 0, 0);
    say_number("all after one for all", order);
    for (u32 n = 1; n <= 3; n++) join(n);
    order = 0;
    make(only_notes, 1, WORSE); make(only_notes, 2, WORSE);
    svc_set_thread_priority(own_handle[2], BETTER, 0, 0, 0, 0, 0);
    say_number("priority changed", order);
    svc_get_thread_priority(0, own_handle[2], 0, 0, 0, 0, reply);
    join(1); join(2);
    say_number("  in the end", order);
    say_hex("bad priority", svc_create_thread(0, (u64)thread_begins, 0, (u64)&stacks[1][510], 0x40, 0, reply));
    say_hex("bad core", svc_create_thread(0, (u64)thread_begins, 0, (u64)&stacks[1][510], NORMAL, 7, reply));
    svc_get_thread_core_mask(0, 0, CURRENT_THREAD, 0, 0, 0, reply);
    say_number("core", reply[0]);
    say_number("mask", reply[1]);
    say_hex("core not in the mask", svc_set_thread_core_mask(CURRENT_THREAD, 1, 1, 0, 0, 0, 0));
    say_hex("other core", svc_set_thread_core_mask(CURRENT_THREAD, 1, 2, 0, 0, 0, 0));
    say_number("  now", svc_get_current_processor(0, 0, 0, 0, 0, 0, 0));
    svc_set_thread_core_mask(CURRENT_THREAD, (u64)-2, 0, 0, 0, 0, 0);
    u64 before = svc_tick_x(0, 0, 0, 0, 0, 0, 0);
    sleep_us(1000);
    u64 passed = svc_tick_x(0, 0, 0, 0, 0, 0, 0) - before;
    say_number("slept a millisecond", passed >= 19200 && passed < 19300);
}
static void pauses(void) {
    static u64 context[100];
    woken = 0;
    make(counts, 1, BETTER);
    sleep_us(5500);
    say_number("counted", woken);
    say_hex("paused", svc_set_thread_activity(own_handle[1], 1, 0, 0, 0, 0, 0));
    say_hex("  twice", svc_set_thread_activity(own_handle[1], 1, 0, 0, 0, 0, 0));
    sleep_us(5000);
    say_number("  counted", woken);
    say_hex("  context", svc_get_thread_context((u64)context, own_handle[1], 0, 0, 0, 0, 0));
    say_number("  its stack", context[31] > (u64)stacks[1] && context[31] <= (u64)&stacks[1][511]);
    svc_set_thread_activity(own_handle[1], 0, 0, 0, 0, 0, 0);
    sleep_us(5000);
    say_number("  goes on", woken > 6);
    say_hex("context of a running one", svc_get_thread_context((u64)context, own_handle[1], 0, 0, 0, 0, 0));
    say_hex("own", svc_set_thread_activity(CURRENT_THREAD, 1, 0, 0, 0, 0, 0));
    svc_set_thread_activity(own_handle[1], 1, 0, 0, 0, 0, 0);   /* for the rest of the program */
}
/* On another core a thread runs although its priority is worse, and the other one never waits. */
static volatile u32 asked, answered;
static void answers(u64 n) {
    for (u32 i = 1; i <= 3; i++) {
        while (asked != i) { }
        answered = i;
    }
}
static void cores(void) {
    u64 reply[4], *top = &stacks[4][510];
    *top = (u64)answers;
    check(svc_create_thread(0, (u64)thread_begins, 0, (u64)top, WORSE, 1, reply), "CreateThread");
    own_handle[4] = (u32)reply[0];
    check(svc_start_thread(own_handle[4], 0, 0, 0, 0, 0, 0), "StartThread");
    for (u32 i = 1; i <= 3; i++) {
        asked = i;
        while (answered != i) if (i == 2) svc_tick(0, 0, 0, 0, 0, 0, 0);
    }
    say_number("answers of another core", answered);
    svc_get_thread_core_mask(0, 0, own_handle[4], 0, 0, 0, reply);
    say_number("  its number", reply[0]);
    join(4);
}
/* -- locks ------------------------------------------------------------------------------------------------------ */
static void mutexes(void) {
    order = 0;
    lock(main_thread);
    make(takes_lock, 1, WORSE); make(takes_lock, 2, BETTER); make(takes_lock, 3, WORSE);
    sleep_us(100);
    say_number("all wait", order == 0 && mutex == (main_thread | WAITERS));
    unlock(main_thread);
    say_number("the best has it first", order);
    for (u32 n = 1; n <= 3; n++) join(n);
    say_number("then in order", order);
    say_number("free", mutex == 0);
    say_hex("no such owner", (mutex = 0x7777 | WAITERS, svc_arbitrate_lock(0x7777, (u64)&mutex, main_thread, 0, 0, 0, 0)));
    say_hex("another owner", svc_arbitrate_lock(1, (u64)&mutex, main_thread, 0, 0, 0, 0));
    say_hex("misaligned", svc_arbitrate_lock(1, (u64)&mutex + 1, main_thread, 0, 0, 0, 0));
    say_hex("no memory", svc_arbitrate_lock(1, 0x1000, main_thread, 0, 0, 0, 0));
    say_hex("  to unlock", svc_arbitrate_unlock(0x1000, 0, 0, 0, 0, 0, 0));
    mutex = 0;
}
static void conditions(void) {
    order = 0; key = 0;
    for (u32 n = 1; n <= 3; n++) make(waits_for_key, n, n == 3 ? BETTER : NORMAL);
    sleep_us(100);
    say_number("waiting", key);
    svc_signal_key((u64)&key, 1, 0, 0, 0, 0, 0);
    say_number("one, the best", order);
    say_number("others are left", key);
    lock(main_thread);
    svc_signal_key((u64)&key, (u64)-1, 0, 0, 0, 0, 0);
    sleep_us(100);
    say_number("woken, without the mutex", order);
    say_number("nobody is left", key);
    say_number("they wait for the mutex", mutex == (main_thread | WAITERS));
    unlock(main_thread);
    for (u32 n = 1; n <= 3; n++) join(n);
    say_number("in the end", order);
    say_number("results", results[1] | results[2] | results[3]);
    order = 0;
    make(waits_a_while, 1, NORMAL);
    join(1);
    say_hex("time is up", results[1]);
    say_number("  nobody signalled", order);
    order = 0;
    lock(main_thread);
    say_hex("at once", svc_wait_key((u64)&mutex, (u64)&key, main_thread, 0, 0, 0, 0));
    say_number("  the mutex was given back", mutex == 0);
    make(waits_a_while, 1, BETTER);
    lock(main_thread);
    svc_signal_key((u64)&key, 1, 0, 0, 0, 0, 0);
    sleep_us(2000);                                             /* its time is up while it waits for the mutex */
    unlock(main_thread);
    join(1);
    say_hex("up while it waits for the mutex", results[1]);
    say_hex("nobody waits", svc_signal_key((u64)&key, 1, 0, 0, 0, 0, 0));
    say_number("free", mutex == 0);
}
/* -- the address arbiter ---------------------------------------------------------------------------------------- */
static u32 wait_word(u32 kind, u32 value, u64 time) { return svc_wait_address((u64)&word, kind, value, time, 0, 0, 0); }
static u32 signal_word(u32 kind, u32 value, u32 count) { return svc_signal_address((u64)&word, kind, value, count, 0, 0, 0); }
static void addresses(void) {
    word = 5;
    say_hex("not less", wait_word(0, 5, FOREVER));
    say_hex("less", wait_word(0, 6, 1000));
    say_hex("less, at once", wait_word(0, 6, 0));
    say_hex("decremented", wait_word(1, 6, 1000));
    say_number("  to", word);
    say_hex("not equal", wait_word(2, 5, FOREVER));
    say_hex("no such kind", wait_word(4, 5, FOREVER));
    say_hex("misaligned", svc_wait_address((u64)&word + 2, 2, 5, 0, 0, 0, 0));
    say_hex("no memory", svc_wait_address(0x1000, 2, 5, 0, 0, 0, 0));
    order = 0; word = 9;
    make(waits_for_word, 1, NORMAL); make(waits_for_word, 2, BETTER); make(waits_for_word, 3, NORMAL);
    sleep_us(100);
    say_hex("signal if equal", signal_word(1, 8, 1));
    say_hex("one", signal_word(0, 0, 1));
    say_number("  the best", order);
    say_hex("incremented", signal_word(1, 9, 0));
    sleep_us(100);
    say_number("  to", word);
    say_number("  all", order);
    for (u32 n = 1; n <= 3; n++) join(n);
    static const s32 counts_of_waiters[4] = {0, 1, 2, 3};
    for (u32 n = 0; n < 4; n++) {
        word = 100;
        make(waits_for_word, 1, BETTER); make(waits_for_word, 2, BETTER);
        signal_word(2, 100, (u32)counts_of_waiters[n]);
        say_number("by waiters", word);
        signal_word(0, 0, 0);
        join(1); join(2);
    }
    signal_word(2, word, 1);
    say_number("without any", word);
}
/* -- events and waits ------------------------------------------------------------------------------------------- */
static void events(void) {
    u64 reply[4];
    new_event();
    say_hex("off", wait_for(event_read, 0));
    say_hex("reset", svc_reset_signal(event_read, 0, 0, 0, 0, 0, 0));
    svc_signal_event(event_write, 0, 0, 0, 0, 0, 0);
    say_hex("on", wait_for(event_read, FOREVER));
    say_hex("still", wait_for(event_read, FOREVER));
    say_hex("reset", svc_reset_signal(event_read, 0, 0, 0, 0, 0, 0));
    say_hex("off", wait_for(event_read, 0));
    say_hex("wrong end", svc_signal_event(event_read, 0, 0, 0, 0, 0, 0));
    say_hex("  to wait", wait_for(event_write, 0));
    svc_signal_event(event_write, 0, 0, 0, 0, 0, 0);
    say_hex("cleared here", svc_clear_event(event_write, 0, 0, 0, 0, 0, 0));
    svc_signal_event(event_write, 0, 0, 0, 0, 0, 0);
    say_hex("  and there", svc_clear_event(event_read, 0, 0, 0, 0, 0, 0));
    u32 one = event_read, one_write = event_write, list[65];
    new_event();
    list[0] = one; list[1] = event_read;
    say_hex("two, none", svc_wait(0, (u64)list, 2, 1000, 0, 0, reply));
    svc_signal_event(event_write, 0, 0, 0, 0, 0, 0);
    say_hex("the second", svc_wait(0, (u64)list, 2, FOREVER, 0, 0, reply));
    say_number("  index", (u32)reply[0]);
    svc_signal_event(one_write, 0, 0, 0, 0, 0, 0);
    say_hex("both", svc_wait(0, (u64)list, 2, FOREVER, 0, 0, reply));
    say_number("  index", (u32)reply[0]);
    list[1] = 0x7777;
    say_hex("wrong handle", svc_wait(0, (u64)list, 2, FOREVER, 0, 0, reply));
    say_hex("none", svc_wait(0, (u64)list, 0, 1000, 0, 0, reply));
    say_hex("too many", svc_wait(0, (u64)list, 65, 0, 0, 0, reply));
    say_hex("no memory", svc_wait(0, 0x1000, 1, 0, 0, 0, reply));
    svc_clear_event(event_read, 0, 0, 0, 0, 0, 0);
    svc_clear_event(one, 0, 0, 0, 0, 0, 0);
    order = 0;
    make(waits_for_event, 1, NORMAL); make(waits_for_event, 2, BETTER);
    sleep_us(100);
    check(svc_close(event_read, 0, 0, 0, 0, 0, 0), "close");
    say_hex("closed", wait_for(event_read, 0));
    svc_signal_event(event_write, 0, 0, 0, 0, 0, 0);
    join(1); join(2);
    say_number("who waited went on", order);
    say_hex("result", results[1] | results[2]);
    svc_close(event_write, 0, 0, 0, 0, 0, 0); svc_close(one, 0, 0, 0, 0, 0, 0); svc_close(one_write, 0, 0, 0, 0, 0, 0);
    order = 0;
    make(waits_for_itself, 1, BETTER);
    say_number("waits for itself", order == 0);
    svc_cancel(own_handle[1], 0, 0, 0, 0, 0, 0);
    join(1);
    say_hex("cancelled", results[1]);
    create(waits_for_itself, 1, BETTER);
    svc_cancel(own_handle[1], 0, 0, 0, 0, 0, 0);
    svc_start_thread(own_handle[1], 0, 0, 0, 0, 0, 0);
    join(1);
    say_hex("before it waits", results[1]);
    say_hex("cancel what is no thread", svc_cancel(CURRENT_PROCESS, 0, 0, 0, 0, 0, 0));
}
/* -- handles ---------------------------------------------------------------------------------------------------- */
static void handles(void) {
    static u32 made[8192];
    u64 reply[4];
    u32 count = 0, result;
    while (!(result = svc_create_event(0, 0, 0, 0, 0, 0, reply)) && count < 8190) {
        made[count++] = (u32)reply[0];
        made[count++] = (u32)reply[1];
    }
    say_hex("no more handles", result);
    say_number("  many", count > 100 && count < 8190);
    for (u32 n = 0; n < count; n++) check(svc_close(made[n], 0, 0, 0, 0, 0, 0), "close");
    say_hex("twice", svc_close(made[0], 0, 0, 0, 0, 0, 0));
    say_hex("0", svc_close(0, 0, 0, 0, 0, 0, 0));
    new_event();
    close_event();
    say_number("usable again", event_read != 0 && event_read < 1u << 30);
    say_hex("absent port", svc_connect(0, (u64)"nothing", 0, 0, 0, 0, reply));
    say_hex("long name", svc_connect(0, (u64)"a name that is long", 0, 0, 0, 0, reply));
    say_hex("no session", svc_send(CURRENT_THREAD, 0, 0, 0, 0, 0, 0));
    say_hex("no such question", svc_get_info(0, 99, CURRENT_PROCESS, 0, 0, 0, reply));
    say_hex("  of a thread", svc_get_info(0, 2, CURRENT_THREAD, 0, 0, 0, reply));
    say_hex("  with more", svc_get_info(0, 2, CURRENT_PROCESS, 1, 0, 0, reply));
    say_hex("not a pointer", svc_print(0x1000, 4, 0, 0, 0, 0, 0));
    say_hex("told only", svc_break(0x80000003, 0, 0, 0, 0, 0, 0));
    say_hex("physical memory", svc_map_physical(0x1000000000, 0x1000, 0, 0, 0, 0, 0));
}
int main(void) {
    main_thread = (u32)entry_value(MAIN_THREAD, 0);
    threads(); mutexes(); conditions(); addresses(); events(); handles(); pauses(); cores();
    say("done\n");
    return 0;
}
