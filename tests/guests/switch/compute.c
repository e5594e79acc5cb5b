/* What takes time: a loop of four instructions, sorting, a checksum by a table, matrices; then supervisor calls, and
 * reads of the counter. */
#include "runtime.h"
#define COUNT 20000
#define SIDE 48
static u32 values[COUNT], table[256];
static float a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

KEEP static u32 loop(u32 count) {
    u32 sum = 0, mix = 0;
    __asm__ volatile("1: add %w0, %w0, %w2\n eor %w1, %w1, %w0\n subs %w2, %w2, #1\n b.ne 1b"
                     : "+r"(sum), "+r"(mix), "+r"(count) : : "cc");
    return mix;
}
KEEP static void fill_values(void) {
    u32 x = 12345;
    for (u32 i = 0; i < COUNT; i++) values[i] = x = x * 1664525 + 1013904223;
}
KEEP static void sort(void) {
    for (u32 gap = COUNT / 2; gap; gap /= 2)
        for (u32 i = gap; i < COUNT; i++) {
            u32 value = values[i], at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap) values[at] = values[at - gap];
            values[at] = value;
        }
}
KEEP static u32 checksum(void) {
    for (u32 i = 0; i < 256; i++) {
        u32 x = i;
        for (u32 k = 0; k < 8; k++) x = x & 1 ? x >> 1 ^ 0xEDB88320u : x >> 1;
        table[i] = x;
    }
    u32 crc = ~0u;
    const u8 *bytes = (const u8 *)values;
    for (u32 round = 0; round < 10; round++)
        for (u32 i = 0; i < sizeof values; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return ~crc;
}
KEEP static float matrices(void) {
    for (u32 i = 0; i < SIDE; i++)
        for (u32 j = 0; j < SIDE; j++) { a[i][j] = (float)(i + 2 * j); b[i][j] = (float)(i ^ j); }
    for (u32 round = 0; round < 6; round++)
        for (u32 i = 0; i < SIDE; i++)
            for (u32 j = 0; j < SIDE; j++) {
                float sum = 0;
                for (u32 k = 0; k < SIDE; k++) sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
    return c[3][5];
}

int main(void) {
    say_number("loop", loop(3000000));
    fill_values();
    sort();
    say_number("sort", values[COUNT / 2]);
    say_number("checksum", checksum());
    say_number("matrices", (u64)matrices());
    for (u32 i = 0; i < 1000; i++) svc_tick(0, 0, 0, 0, 0, 0, 0);
    say("calls\n");
    u64 last = 0, back = 0;
    for (u32 i = 0; i < 10000; i++) { u64 now = counter(); back += now < last; last = now; }
    say_number("counted back", back);
    return 0;
}
