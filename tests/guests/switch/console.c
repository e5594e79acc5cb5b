/* Prints as libnx's console does: 16x16 glyphs, drawn by the processor into block linear RGB565. */
#include "services.h"
#include "fonts.h"

enum { WIDTH = 640, HEIGHT = 360, BLOCK_LOG2 = 4, PITCH = 2 * WIDTH, SIZE = PITCH * 384, RGB565 = 4 };
enum { WHITE = 0xC618, YELLOW = 0xFFE0, BLUE = 0x0010 };
static u8 *pixels, *screen;
static struct fences fences, none;
static u32 slot;

static u32 place(u32 x, u32 y) {
    u32 gobs = 1u << BLOCK_LOG2, gob = y / 8 % gobs, block = y / 8 / gobs * (PITCH / 64) + x / 64;
    return (block * gobs + gob) * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}
static void print(u32 column, u32 row, const char *text, u32 fg, u32 bg) {
    for (; *text; text++, column++)
        for (u32 y = 0; y < 16; y++)
            for (u32 x = 0; x < 16; x++)
                *(u16 *)(screen + place(2 * (16 * column + x), 16 * row + y)) =
                    (u16)(font[16 * (u8)*text + y] & 0x8000 >> x ? fg : bg);
}
static void page(void) {
    check((u32)window_wait(&slot, &fences), "DEQUEUE");
    screen = pixels + slot * SIZE;
    for (u32 n = 0; n < SIZE; n += 8) *(u64 *)(screen + n) = 0;
}
static void show(const char *what) {
    check((u32)window_show(slot, 1, 0, &none), "QUEUE");
    svc_sleep_x(50000000, 0, 0, 0, 0, 0, 0);               /* three VBlanks */
    say(what);
}

int main(void) {
    pixels = memory(2 * SIZE, 0x10000);
    nv_start();
    window_open();
    u32 id = nv_memory(pixels, 2 * SIZE, 0xFE);
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {id, n * SIZE, WIDTH, HEIGHT, PITCH, RGB565, BLOCK_LOG2};
        window_set(n, &one);
    }
    page();
    print(0, 0, "Hello, world!", WHITE, 0);
    print(2, 1, "Yellow on blue, 100 %", YELLOW, BLUE);
    print(0, 2, "Reverse {1 + 2 = 3}", 0, WHITE);
    print(40 - 8, 21, "the end.", WHITE, 0);
    show("text\n");
    page();
    for (u32 y = 0; y < HEIGHT; y++)
        for (u32 x = 0; x < WIDTH; x++) *(u16 *)(screen + place(2 * x, y)) = (u16)(x * y);
    show("picture\n");
    window_close();
    return 0;
}
