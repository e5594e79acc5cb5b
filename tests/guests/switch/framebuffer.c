/* Pictures that the processor draws: two buffers of RGBA8, then two of RGB565, both block linear; would-block, intervals,
 * mirrored pictures, wrong requests. */
#include "services.h"

enum { WIDTH = 320, HEIGHT = 180, BLOCK_LOG2 = 4 };
enum { RGBA8 = 1, RGB565 = 4, BGRA8 = 5 };
static u8 *pixels;

/* Where a byte of a row lies in block linear memory. */
static u32 place(u32 x, u32 y, u32 pitch) {
    u32 gobs = 1u << BLOCK_LOG2, gob = y / 8 % gobs, block = y / 8 / gobs * (pitch / 64) + x / 64;
    return (block * gobs + gob) * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}
/* A ramp to the right in red, one down in green, blue by the picture's number; a black square in the upper left. */
static void draw(u8 *at, u32 format, u32 number) {
    u32 pitch = format == RGB565 ? 2 * WIDTH : 4 * WIDTH;
    for (u32 y = 0; y < HEIGHT; y++)
        for (u32 x = 0; x < WIDTH; x++) {
            u32 r = x * 255 / (WIDTH - 1), g = y * 255 / (HEIGHT - 1), b = 40 * number;
            if (x < 20 && y < 20) r = g = b = 0;
            if (format == RGB565)
                *(u16 *)(at + place(2 * x, y, pitch)) = (u16)(r >> 3 << 11 | g >> 2 << 5 | b >> 3);
            else
                *(u32 *)(at + place(4 * x, y, pitch)) = r | g << 8 | b << 16 | 0xFF000000u;
        }
}
static u32 show_some(u32 format, u32 count, u32 number) {
    u32 pitch = format == RGB565 ? 2 * WIDTH : 4 * WIDTH, size = pitch * 256, slot, blocked = 0;
    u32 memory_id = nv_memory(pixels, 2 * size, 0xFE);
    struct fences fences, none = {0};
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {memory_id, n * size, WIDTH, HEIGHT, pitch, format, BLOCK_LOG2};
        window_set(n, &one);
    }
    for (u32 n = 0; n < count; n++) {
        s32 status = window_take(&slot, &fences);
        if (status == WOULD_BLOCK) {
            blocked++;
            status = window_wait(&slot, &fences);
        }
        check((u32)status, "DEQUEUE");
        draw(pixels + slot * size, format, number + n);
        check((u32)window_show(slot, 1, n == 3 ? 3 : 0, &none), "QUEUE");
    }
    struct { u32 handle, pad; u64 address; u32 size, flags; } free = {memory_id};
    check((u32)window_disconnect(), "DISCONNECT");
    check(nv_control(nv_map_device, NV_RW(0x0105, 0x18), &free), "nvmap Free");
    say_number("freed", free.size);
    return blocked;
}

static void wrong_things(void) {
    u32 slot, number = 99, answer[2] = {0, 0};
    struct fences fences, none = {0};
    say_number("twice connected", (u32)-window_connect());
    say_number("no buffers", (u32)-window_take(&slot, &fences));
    say_number("not taken", (u32)-window_show(0, 1, 0, &none));
    say_number("request", window_ask(1, &number, 4, answer, 8) == 8 && (s32)answer[1] < 0);
    number = 3;
    say_number("query", window_ask(9, &number, 4, answer, 8) == 8 ? answer[0] : 99);
    u32 create[2] = {0, 0};
    say_number("nothing", nv_control(nv_map_device, NV_RW(0x0101, 8), create));
    create[0] = 0x1000;
    check(nv_control(nv_map_device, NV_RW(0x0101, 8), create), "nvmap Create");
    struct { u32 handle, heap, flags, align; u64 kind, address; } alloc = {create[1], 0, 0, 0x1000, 0, 0x1000};
    say_number("not ours", nv_control(nv_map_device, NV_RW(0x0104, 0x20), &alloc));
    alloc.address = (u64)pixels + 1;
    say_number("not aligned", nv_control(nv_map_device, NV_RW(0x0104, 0x20), &alloc));
    u32 param[3] = {create[1], 1, 0};
    check(nv_control(nv_map_device, NV_RW(0x0109, 12), param), "nvmap Param");
    say_number("size", param[2]);
    u32 from[2] = {create[1], 0};
    check(nv_control(nv_map_device, NV_RW(0x0103, 8), from), "nvmap FromId");
    say_number("the same", from[1] == create[1]);
    say_number("unknown", nv_control(nv_map_device, NV_RW(0x01FF, 8), create));
    struct buffer bad = {create[1], 0, WIDTH, HEIGHT, 4 * WIDTH, RGBA8, BLOCK_LOG2};
    window_set(0, &bad);
    say_number("no memory", (u32)-window_take(&slot, &fences));
}

int main(void) {
    nv_start();
    window_open();
    pixels = memory(2 * 4 * WIDTH * 256, 0x1000);
    wrong_things();
    say_number("blocked", show_some(RGBA8, 4, 0));
    check((u32)window_connect(), "CONNECT");
    say_number("blocked", show_some(RGB565, 3, 2));
    window_close();
    check(nv_close(nv_map_device), "Close");
    say("done\n");
    return 0;
}
