/* A program that is shipped as a 3DSX: pointers of all kinds in all segments, and files of its RomFS. */
#include "homebrew.h"
static const char *const names[3] = {"one", "two", "three"};
const char *changed[3] = {"four", "five", "six"};
static u32 zeros[1000];
static u32 *const to_zeros = zeros;
static u32 twice(u32 value) { return 2 * value; }
static u32 thrice(u32 value) { return 3 * value; }
static u32 (*const functions[2])(u32) = {twice, thrice};

/* A distance across segments, from read-only data to code. Those of 31 bits are in the unwinding tables. */
__asm__(
    ".section .rodata\n.balign 4\n.global distance\n"
    "distance: .word main - .\n"
    ".text\n");
extern const u32 distance;

static u32 card;
static u8 buffer[512];
static u32 file;
static u32 read_at(u32 offset, void *to, u32 size) {
    u32 *m = message();
    m[0] = 0x080200C2; m[1] = offset; m[2] = 0; m[3] = size; m[4] = size << 4 | 12; m[5] = (u32)to;
    check(svc_send(file, 0, 0, 0, 0, 0, 0), "read");
    check(m[1], "read");
    return m[2];
}
static u32 word(u32 offset) { u32 value = 0; read_at(offset, &value, 4); return value; }
static void open_own_file(void) {
    const char *path = argument(0) + 5;                             /* after sdmc: */
    u32 *m = message(), length = 0;
    while (path[length]) length++;
    card = service("fs:USER");
    m[0] = 0x08030204; m[1] = 0; m[2] = 9; m[3] = 1; m[4] = 1; m[5] = 3; m[6] = length + 1; m[7] = 1; m[8] = 0;
    m[9] = 1 << 14 | 2 << 10 | 2; m[10] = (u32)""; m[11] = (length + 1) << 14 | 2; m[12] = (u32)path;
    check(svc_send(card, 0, 0, 0, 0, 0, 0), "open");
    check(m[1], "open");
    file = m[3];
}
/* Each file of the root folder: its name and its text. */
static void list_romfs(void) {
    u32 base = word(0x28), files = word(base + 0x1C), data = word(base + 0x24);
    u32 first = word(base + word(base + 0x0C) + 12);
    for (u32 at = first; at != 0xFFFFFFFF; ) {
        u32 entry = base + files + at, length = word(entry + 28), size = word(entry + 16);
        static char name[64];
        read_at(entry + 32, buffer, length);
        for (u32 i = 0; i < length / 2 && i < 63; i++) name[i] = buffer[2 * i], name[i + 1] = 0;
        say(name); say(": ");
        svc_print((u32)buffer, read_at(base + data + word(entry + 8), buffer, size), 0, 0, 0, 0, 0);
        at = word(entry + 4);
    }
}
static void __attribute__((noinline, noclone)) sink(volatile u32 *at) {
    *at = 1;                                                        /* LINE write */
    say("written\n");
}
int main(void) {
    for (u32 n = 0; n < 3; n++) { say(names[n]); say(" "); say(changed[n]); say("\n"); }
    say_number("functions", functions[0](10) + functions[1](100));
    say_number("zeros", to_zeros == zeros && !zeros[0] && !zeros[999]);
    say_number("distance", (u32)&distance + distance == (u32)main);
    open_own_file();
    list_romfs();
    if (argument(1)) sink((volatile u32 *)0x10);
    return 0;
}
