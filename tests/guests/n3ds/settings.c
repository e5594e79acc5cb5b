/* The console's settings, power and clocks. */
#include "services.h"
static u32 cfg;
static u8 block[0x40];
static void read_block(u32 number, u32 size) {
    u32 *m = message();
    m[1] = size; m[2] = number; m[3] = writable(size); m[4] = (u32)block;
    check(ask(cfg, 0x00010082), "block");
}
int main(void) {
    u32 *m = message();
    cfg = service("cfg:i");
    read_block(0x000A0002, 1); say_number("language", block[0]);
    read_block(0x000A0000, 0x1C); say_utf16("name", (u16 *)block, 10);
    read_block(0x000A0001, 2); say_number("birthday", 100 * block[0] + block[1]);
    read_block(0x00070001, 1); say_number("sound", block[0]);
    read_block(0x000B0000, 4); say_number("country", block[3]);
    read_block(0x000D0000, 4); say_number("licence", *(u16 *)block);
    check(ask(cfg, 0x00020000), "region"); say_number("region", m[2]);
    check(ask(cfg, 0x00050000), "model"); say_number("model", m[2]);
    say_hex("country's code", (ask1(cfg, 0x00090040, 110), m[2]));
    block[0] = 2;
    m[1] = 0x000A0002; m[2] = 1; m[3] = readable(1); m[4] = (u32)block;
    say_hex("set", ask(cfg, 0x04020082));
    read_block(0x000A0002, 1); say_number("language", block[0]);
    u32 ptm = service("ptm:u"), mcu = service("mcu::HWC"), clock = service("ptm:gets");
    check(ask(ptm, 0x00070000), "battery"); say_number("battery", m[2]);
    check(ask(ptm, 0x00060000), "shell"); say_number("open", m[2]);
    check(ask(ptm, 0x000C0000), "steps"); say_number("steps", m[2]);
    check(ask(mcu, 0x00050000), "percent"); say_number("percent", m[2]);
    check(ask(clock, 0x04010000), "clock");
    say_number("days since 2000", (u32)((m[2] | (u64)m[3] << 32) / 86400000));
    sleep_ns(1000000000);
    u32 before = m[2];
    check(ask(clock, 0x04010000), "clock");
    u32 passed = m[2] - before;
    say_number("a second passed", passed >= 1000 && passed < 1010);
    return 0;
}
