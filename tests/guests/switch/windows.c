/* What programs rarely ask of a window and of the driver: one buffer, buffers that are given back or taken away, older
 * libraries' DETACH, waits for syncpoints in the request itself, parts of a picture. The pictures are plain colours. */
#include "services.h"

enum { WIDTH = 64, HEIGHT = 32, PITCH = 4 * WIDTH, SIZE = PITCH * 128, RGBA8 = 1, BLOCK_LOG2 = 4 };
enum { QUEUE = 7, CANCEL = 8, DETACH = 4, QUERY = 9, DETACH_NEXT = 5, TIMED_OUT = 5, SYNCPOINT = 100 };
static u8 *pixels;
static u32 memory_id, control;
static const struct fences none = {0};

static void fill(u32 slot, u32 colour) {
    for (u32 n = 0; n < SIZE / 4; n++) ((u32 *)(pixels + slot * SIZE))[n] = colour;
}
static void buffers(u32 count) {
    for (u32 n = 0; n < count; n++) {
        struct buffer one = {memory_id, n * SIZE, WIDTH, HEIGHT, PITCH, RGBA8, BLOCK_LOG2};
        window_set(n, &one);
    }
}
static u32 milliseconds(u64 since) { return (u32)((counter() - since) / 19200); }

/* A single buffer comes back at each VBlank, while it is shown. */
static void one_buffer(void) {
    u32 slot;
    struct fences fences;
    buffers(1);
    u64 start = counter();
    for (u32 n = 0; n < 4; n++) {
        check((u32)window_wait(&slot, &fences), "DEQUEUE");
        fill(slot, 0xFF000000u | 50 * (n + 1));
        check((u32)window_show(slot, 1, 0, &none), "QUEUE");
    }
    check((u32)window_wait(&slot, &fences), "DEQUEUE");
    say_number("one buffer, frames", (milliseconds(start) + 8) * 60 / 1000);
    u32 cancel[12] = {slot, 36};
    window_ask(CANCEL, cancel, 12 + 36, cancel, 0);
}
static void give_back(void) {
    u32 slot, other, answer = 99;
    struct fences fences;
    check((u32)window_take(&slot, &fences), "DEQUEUE");
    u32 detach = slot + 1;
    window_ask(DETACH, &detach, 4, &answer, 4);
    say_number("not ours", (u32)-(s32)answer);
    window_ask(DETACH, &slot, 4, &answer, 4);
    say_number("detached", answer);
    say_number("none left", (u32)-window_take(&other, &fences));
    window_ask(DETACH_NEXT, &slot, 4, &answer, 4);
    say_number("not modelled", (u32)-(s32)answer);
    check((u32)window_disconnect(), "DISCONNECT");
    check((u32)window_connect(), "CONNECT");
    buffers(3);
    for (u32 n = 0; n < 3; n++) check((u32)window_take(&slot, &fences), "DEQUEUE");
    fill(slot, 0xFF0000FFu);
    check((u32)window_show(slot, 1, 0, &none), "QUEUE");
    u32 cancel[12] = {0, 36};
    window_ask(CANCEL, cancel, 12 + 36, cancel, 0);
    check((u32)window_take(&slot, &fences), "DEQUEUE");
    say_number("given back", slot);
    check((u32)window_show(slot, 2, 0, &none), "QUEUE");
}

/* A part of a buffer, mirrored and turned. */
static void part(void) {
    u32 slot, answer[5] = {0, 0, 0, 0, 0xFF};
    struct fences fences;
    check((u32)window_wait(&slot, &fences), "DEQUEUE");
    for (u32 n = 0; n < SIZE / 4; n++) ((u32 *)(pixels + slot * SIZE))[n] = 0xFF000000u | n * 0x10305;
    u32 data[3 + 0x54 / 4] = {slot, 0x54, 0}, *one = data + 3;
    one[3] = 5, one[4] = 3, one[5] = 40, one[6] = 30, one[8] = 5, one[11] = 1;
    window_ask(QUEUE, data, sizeof data, answer, 20);
    say_number("a part", answer[4]);
    svc_sleep_x(100000000, 0, 0, 0, 0, 0, 0);
}

/* A wait in the request, which another thread ends, or the time. */
static void later(u64 count) {
    u32 id = SYNCPOINT;
    svc_sleep_x(20000000, 0, 0, 0, 0, 0, 0);
    for (u64 n = 0; n < count; n++) check(nv_control(control, NV_W(0x0015, 4), &id), "SyncptIncr");
}
static u32 wait_in_request(u32 value, s32 microseconds) {
    u32 wait[3] = {SYNCPOINT, value, (u32)microseconds};
    return nv_control(control, NV_RW(0x0016, 12), wait);
}
static void waits(void) {
    control = nv_open("/dev/nvhost-ctrl");
    say_number("reached", wait_in_request(0, -1));
    say_number("at once", wait_in_request(1, 0));
    u64 start = counter();
    say_number("timed out", wait_in_request(1, 30000));
    say_number("after ms", milliseconds(start));
    u32 thread = thread_start(later, 2, 0x2C);
    start = counter();
    say_number("released", wait_in_request(2, -1));
    say_number("after ms", milliseconds(start));
    check(wait_for(thread, FOREVER), "a thread");
    check(nv_close(control), "Close");
}

int main(void) {
    nv_start();
    pixels = memory(3 * SIZE, 0x1000);
    memory_id = nv_memory(pixels, 3 * SIZE, 0xFE);
    window_open();
    one_buffer();
    give_back();
    waits();
    part();
    check((u32)window_disconnect(), "DISCONNECT");
    window_close();
    say("done\n");
    return 0;
}
