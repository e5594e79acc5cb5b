/* Sound without sound: buffers that the sound processor consumes in time, and sounds of the older service that end. */
#include "services.h"
static u32 dsp, event, semaphore;
static volatile u8 *parts[16][2];
static void pipe(u16 state) {
    static u16 value[2];
    u32 *m = message();
    value[0] = state;
    m[1] = 2; m[2] = 4; m[3] = static_buffer(4, 1); m[4] = (u32)value;
    check(ask(dsp, 0x000D0082), "pipe");
}
static u32 read_pipe(void *to, u32 size) {
    u32 *m = message();
    receives()[0] = static_buffer(size, 0);
    receives()[1] = (u32)to;
    m[1] = 2; m[2] = 0; m[3] = size;
    check(ask(dsp, 0x001000C0), "read");
    return m[2];
}
static u32 rotated(u32 v) { return v << 16 | v >> 16; }
static void word(volatile u8 *at, u32 v) { *(volatile u16 *)at = v; *(volatile u16 *)(at + 2) = v >> 16; }
static u32 interrupt(s64 ns) {
    u32 result = wait_for(event, ns);
    svc_clear_event(event, 0, 0, 0, 0, 0, 0);
    return result;
}
static void start(void) {
    u32 *m = message(), reply[4];
    u16 addresses[16], count = 0;
    static u8 program[64];
    m[1] = sizeof program; m[2] = m[3] = 0xFF; m[4] = readable(sizeof program); m[5] = (u32)program;
    check(ask(dsp, 0x001100C2), "load");
    say_number("loaded", m[2]);
    check(svc_create_event(0, 1, 0, 0, 0, 0, reply), "event");
    event = reply[0];
    m[1] = 2; m[2] = 2; m[3] = 0; m[4] = event;
    check(ask(dsp, 0x00150082), "register");
    check(ask(dsp, 0x00160000), "semaphore");
    semaphore = m[3];
    pipe(0);
    check(interrupt(FOREVER), "first");
    say_number("bytes", read_pipe(&count, 2));
    say_number("structures", count);
    say_number("bytes", read_pipe(addresses, 2 * count));
    say_number("nothing more", read_pipe(addresses + 15, 2));
    for (u32 i = 0; i < count; i++)
        for (u32 c = 0; c < 2; c++) {
            check(ask1(dsp, 0x000C0040, addresses[i] | c << 16), "convert");
            parts[i][c] = (volatile u8 *)m[2];
        }
}
static void play(void) {
    u32 id = 4, reply[4], begin, end, sequence = 0;
    volatile u8 *channel = parts[1][id & 1];
    *(volatile float *)(channel + 0x34) = 2.0f;
    word(channel + 0xB0, rotated(1600)); /* five frames at twice the rate */
    *(volatile u16 *)(channel + 0xBC) = 0;
    *(volatile u16 *)(channel + 0xBE) = 1;
    *(volatile u16 *)(channel + 0x4A) = 3; /* two more buffers */
    word(channel + 0x4C + 4, rotated(640)); *(volatile u8 *)(channel + 0x4C + 0xF) = 0; *(volatile u16 *)(channel + 0x4C + 0x10) = 2;
    word(channel + 0x60 + 4, rotated(160)); *(volatile u8 *)(channel + 0x60 + 0xF) = 0; *(volatile u16 *)(channel + 0x60 + 0x10) = 3;
    *(volatile u16 *)(channel + 0xA0) = 1;
    *(volatile u16 *)(channel + 0xA2) = 7;
    word(channel, 1u << 16 | 1u << 18 | 1u << 19 | 1u << 28 | 1u << 29 | 1u << 30);
    *(volatile u16 *)parts[0][id & 1] = id;
    begin = svc_tick(0, 0, 0, 0, 0, 0, reply);
    for (u32 frame = 1; frame <= 10; frame++) {
        check(interrupt(FOREVER), "frame");
        volatile u8 *status = parts[2][(id + 1) & 1];
        u32 now = *(volatile u16 *)(status + 8);
        if (now != sequence || status[1]) {
            say_number("frame", frame);
            say_number("  buffer", sequence = now);
            say_number("  changed", status[1]);
            say_number("  playing", status[0]);
            say_number("  last", *(volatile u16 *)(status + 10));
        }
        if (frame == 3) say_number("position", rotated(*(volatile u32 *)(status + 4)));
        id++;
        *(volatile u16 *)parts[0][id & 1] = id;
        svc_signal_event(semaphore, 0, 0, 0, 0, 0, 0);
    }
    end = svc_tick(0, 0, 0, 0, 0, 0, reply);
    say_number("microseconds of ten frames", (end - begin) / 268);
    say_number("sync", *(volatile u16 *)(parts[2][id & 1] + 2));
}
static void older(void) {
    u32 *m = message(), csnd = service("csnd:SND"), offsets[4] = {0x2000, 0x2008, 0x2188, 0x2198};
    m[1] = 0x2800;
    for (u32 i = 0; i < 4; i++) m[2 + i] = offsets[i];
    check(ask(csnd, 0x00010140), "csnd");
    u32 block = m[4];
    check(svc_map_block(block, 0x10200000, 3, 0x10000000, 0, 0, 0), "map");
    volatile u32 *memory = (volatile u32 *)0x10200000;
    check(ask(csnd, 0x00050000), "channels");
    say_hex("channels", m[2]);
    memory[0] = 0xFFFF | 0x00E << 16; memory[1] = 0; /* channel 8, once, 16 bits, 8000 samples at 16 kHz */
    memory[2] = 8 | 2 << 10 | 1 << 12 | 1 << 14 | 4189u << 16;
    memory[3] = memory[4] = 0; memory[5] = memory[6] = 0x20000000; memory[7] = 16000;
    check(ask1(csnd, 0x00030040, 0), "execute");
    say_number("done", memory[1] & 0xFF);
    for (u32 n = 0; n < 3; n++) {
        memory[8] = 0xFFFF | 0x300 << 16; memory[9] = 0;
        check(ask1(csnd, 0x00030040, 0x20), "info");
        say_number("plays", *(volatile u8 *)(0x10200000 + offsets[1]));
        sleep_ns(300000000);
    }
}
int main(void) {
    u32 *m = message();
    dsp = service("dsp::DSP");
    check(ask(dsp, 0x001F0000), "headphones");
    say_number("headphones", m[2]);
    start();
    play();
    pipe(1);
    check(ask1(dsp, 0x00010040, 0), "stopped");
    say_number("stopped", m[2]);
    interrupt(0);
    say_number("no more frames", interrupt(20000000) == 0x09401BFE);
    older();
    return 0;
}
