/* What a player does, as the shared memory of hid:USER tells it. Prints what has changed, with the number of the VBlank. */
#include "services.h"
static volatile u32 *pad;
static const volatile float *slider = (const volatile float *)0x1FF81080;
static u32 entry_of(u32 section) { return pad[section + 4]; }
int main(void) {
    u32 *m = message(), hid = service("hid:USER");
    check(ask(hid, 0x000A0000), "handles");
    u32 moved = m[4], touched_event = m[5];
    (void)touched_event;
    check(svc_map_block(m[3], 0x10002000, 1, 0x10000000, 0, 0, 0), "map");
    pad = (volatile u32 *)0x10002000;
    check(ask(hid, 0x00110000), "accelerometer");
    check(ask(hid, 0x00130000), "gyroscope");
    u32 keys = 0, circle = 0, touch = 0, pull[2] = {0, 0}, turn[2] = {0, 0}, volume = 64;
    float position = -1;
    for (u32 frame = 0; frame < 70; frame++) {
        wait_for(moved, FOREVER);
        u32 n = entry_of(0);
        volatile u32 *entry = pad + 10 + 4 * n;
        if (entry[0] != keys) {
            say_number("frame", frame);
            say_hex("  held", entry[0]); say_hex("  pressed", entry[1]); say_hex("  released", entry[2]);
            keys = entry[0];
        }
        if (entry[3] != circle) { say_hex("circle", circle = entry[3]); say_number("  frame", frame); }
        volatile u32 *point = pad + 0xC8 / 4 + 2 * entry_of(0xA8 / 4);
        u32 now = point[1] ? point[0] | 0x80000000 : 0;
        if (now != touch) { say_hex("touch", touch = now); say_number("  frame", frame); }
        volatile u16 *acceleration = (volatile u16 *)((u32)pad + 0x128 + 6 * entry_of(0x108 / 4));
        u32 a[2] = {acceleration[0] | (u32)acceleration[1] << 16, acceleration[2]};
        if (a[0] != pull[0] || a[1] != pull[1]) {
            say_hex("acceleration", pull[0] = a[0]); say_hex("  z", pull[1] = a[1]); say_number("  frame", frame);
        }
        volatile u16 *rotation = (volatile u16 *)((u32)pad + 0x178 + 6 * entry_of(0x158 / 4));
        u32 r[2] = {rotation[0] | (u32)rotation[1] << 16, rotation[2]};
        if (r[0] != turn[0] || r[1] != turn[1]) {
            say_hex("rotation", turn[0] = r[0]); say_hex("  z", turn[1] = r[1]); say_number("  frame", frame);
        }
        if (*slider != position) {
            position = *slider;
            say_number("slider in percent", (u32)(100 * position)); say_number("  frame", frame);
        }
        check(ask(hid, 0x00170000), "volume");
        if (message()[2] != volume) { say_number("volume", volume = message()[2]); say_number("  frame", frame); }
    }
    check(ask(hid, 0x00120000), "accelerometer off");
    check(ask(hid, 0x00140000), "gyroscope off");
    return 0;
}
