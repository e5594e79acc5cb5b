/* Kernel objects and their corner cases. Prints a line for each; the test has the lines that are right. */
#include "runtime.h"
static u8 stacks[4][0x1000] __attribute__((aligned(8)));
static u32 one_shot, sticky, pulse, mutex, semaphore, order;
static volatile s32 word;
static u32 arbiter;
static volatile u32 woken;

static u32 made(u32 (*call)(u32, u32, u32, u32, u32, u32, u32 *), u32 a1, u32 a2) {
    u32 reply[4];
    check(call(0, a1, a2, 0, 0, 0, reply), "made");
    return reply[0];
}
static u32 event(u32 reset) { return made(svc_create_event, reset, 0); }
static u32 thread(void (*entry)(u32), u32 argument, u32 priority, u32 n) {
    u32 reply[4];
    check(svc_create_thread(priority, (u32)entry, argument, (u32)(stacks[n] + sizeof stacks[n]), (u32)-2, 0, reply), "thread");
    return reply[0];
}
static void done(void) { svc_exit_thread(0, 0, 0, 0, 0, 0, 0); }
static void waits(u32 handle) { wait_for(handle, FOREVER); woken++; done(); }
static void owns(u32 handle) { wait_for(handle, FOREVER); done(); }
static void arbitrated(u32 n) {
    svc_arbitrate(arbiter, (u32)&word, 1, 1, 0, 0, 0);
    order = order * 10 + n;
    done();
}
static void sleep_ms(u32 ms) { u64 ns = ms * 1000000ull; svc_sleep((u32)ns, (u32)(ns >> 32), 0, 0, 0, 0, 0); }

static void events(void) {
    u32 kinds[3] = {one_shot = event(0), sticky = event(1), pulse = event(2)};
    static const char *names[3] = {"one-shot", "sticky", "pulse"};
    for (u32 k = 0; k < 3; k++) {
        woken = 0;
        u32 a = thread(waits, kinds[k], 0x20, 0), b = thread(waits, kinds[k], 0x20, 1);
        svc_signal_event(kinds[k], 0, 0, 0, 0, 0, 0);
        say_number(names[k], woken);
        say_number("  afterwards", wait_for(kinds[k], 0) == 0);
        svc_signal_event(kinds[k], 0, 0, 0, 0, 0, 0);
        svc_signal_event(kinds[k], 0, 0, 0, 0, 0, 0);
        svc_clear_event(kinds[k], 0, 0, 0, 0, 0, 0);
        wait_for(a, FOREVER); wait_for(b, FOREVER);
        say_number("  in the end", woken);
    }
    say_number("timeout", wait_for(one_shot, 1000000) == 0x09401BFE);
}
static void locks(void) {
    mutex = made(svc_create_mutex, 1, 0);
    say_number("taken again", wait_for(mutex, 0));
    svc_release_mutex(mutex, 0, 0, 0, 0, 0, 0);
    woken = 0;
    u32 t = thread(waits, mutex, 0x20, 0);
    say_number("others wait", woken == 0);
    svc_release_mutex(mutex, 0, 0, 0, 0, 0, 0);
    say_number("and get it", woken);
    say_number("not the owner's", svc_release_mutex(mutex, 0, 0, 0, 0, 0, 0));
    wait_for(t, FOREVER);
    say_number("free after its owner", wait_for(mutex, 0));
    thread(owns, mutex, 0x20, 1);
    svc_release_mutex(mutex, 0, 0, 0, 0, 0, 0);
    say_number("free after another", wait_for(mutex, 0));
    u32 reply[4];
    semaphore = made(svc_create_semaphore, 1, 3);
    say_number("semaphore", wait_for(semaphore, 0));
    say_number("  empty", wait_for(semaphore, 0) == 0x09401BFE);
    say_number("  released", svc_release_semaphore(0, semaphore, 3, 0, 0, 0, reply));
    say_number("  before", reply[0]);
    say_number("  too many", svc_release_semaphore(0, semaphore, 1, 0, 0, 0, reply));
}
static void arbiters(void) {
    arbiter = made(svc_create_arbiter, 0, 0);
    word = 0; order = 0;
    thread(arbitrated, 1, 0x28, 0);
    thread(arbitrated, 2, 0x20, 1);
    thread(arbitrated, 3, 0x28, 2);
    say_number("nobody goes on", order);
    svc_arbitrate(arbiter, (u32)&word, 0, 2, 0, 0, 0);
    say_number("two, the best first", order);
    svc_arbitrate(arbiter, (u32)&word, 0, (u32)-1, 0, 0, 0);
    say_number("all", order);
    say_number("not less", svc_arbitrate(arbiter, (u32)&word, 1, 0, 0, 0, 0));
    say_number("timeout", svc_arbitrate(arbiter, (u32)&word, 4, 5, 1000, 0, 0) == 0x09401BFE);
    say_number("decremented", -word);
}
static void timers(void) {
    u32 timer = made(svc_create_timer, 0, 0), reply[4];
    u32 start, end;
    svc_set_timer(timer, 2000000, 2000000, 0, 0, 0, 0);
    start = svc_tick(0, 0, 0, 0, 0, 0, reply);
    wait_for(timer, FOREVER); wait_for(timer, FOREVER); wait_for(timer, FOREVER);
    end = svc_tick(0, 0, 0, 0, 0, 0, reply);
    say_number("three periods of 2 ms in us", (end - start) / 268);
    svc_cancel_timer(timer, 0, 0, 0, 0, 0, 0);
    say_number("cancelled", wait_for(timer, 5000000) == 0x09401BFE);
    u32 handles[2] = {timer, event(0)};
    svc_signal_event(handles[1], 0, 0, 0, 0, 0, 0);
    say_number("one of two", svc_wait_n((u32)-1, (u32)handles, 2, 0, 0xFFFFFFFF, 0, reply));
    say_number("  which", reply[0]);
    say_number("all of two", svc_wait_n(1000, (u32)handles, 2, 1, 0, 0, reply) == 0x09401BFE);
}
static void handles(void) {
    u32 reply[4], e = event(1);
    check(svc_duplicate(0, e, 0, 0, 0, 0, reply), "duplicate");
    svc_signal_event(reply[0], 0, 0, 0, 0, 0, 0);
    say_number("one object", wait_for(e, 0));
    say_number("closed", svc_close(e, 0, 0, 0, 0, 0, 0));
    say_number("not twice", svc_close(e, 0, 0, 0, 0, 0, 0));
    say_number("still there", wait_for(reply[0], 0));
    say_number("another kind", svc_release_mutex(reply[0], 0, 0, 0, 0, 0, 0));
    say_number("no such handle", svc_signal_event(0x12345, 0, 0, 0, 0, 0, 0));
    say_number("absent port", svc_connect(0, (u32)"nothing", 0, 0, 0, 0, reply));
    say_number("wrong pointer", svc_wait_n(0, 0x50000000, 1, 0, 0, 0, reply));
}
int main(void) {
    events(); locks(); arbiters(); timers(); handles();
    sleep_ms(1);
    say("done\n");
    return 0;
}
