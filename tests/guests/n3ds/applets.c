/* Library applets, HOME, sleep and the end, as a program hears of them from APT. */
#include "services.h"
SVC(svc_create_block, 0x1E)
SVC(svc_unmap_block, 0x20)
#define SELF 0x300
#define KEYBOARD 0x401
static u32 apt, notified, resumed, command, handle, received;
static u8 parameter[0x1000] __attribute__((aligned(4)));
static u16 shared[0x800] __attribute__((aligned(0x1000)));

static void receive(void) {
    u32 *m = message();
    wait_for(resumed, FOREVER);
    receives()[0] = static_buffer(sizeof parameter, 0);
    receives()[1] = (u32)parameter;
    m[1] = SELF; m[2] = sizeof parameter;
    check(ask(apt, 0x000D0080), "receive");
    command = m[3]; received = m[4]; handle = m[6];
}
static u32 send(u32 to, u32 what, const void *data, u32 size) {
    u32 *m = message();
    m[1] = SELF; m[2] = to; m[3] = what; m[4] = size; m[5] = 0; m[6] = 0;
    m[7] = static_buffer(size, 0); m[8] = (u32)data;
    return ask(apt, 0x000C0104);
}
static void give_screens(u32 to, u32 request) {
    static u32 capture[8] = {0x10000};
    u32 *m = message();
    check(ask1(apt, 0x00090040, to), "registered");
    say_number("registered", m[2]);
    check(send(to, request, capture, sizeof capture), "send");
    receive();
    say_number("screens", command);
    check(svc_map_block(handle, 0x10100000, 3, 0x10000000, 0, 0, 0), "map");
    ((volatile u32 *)0x10100000)[0xFFFF / 4] = 1;
    check(svc_unmap_block(handle, 0x10100000, 0, 0, 0, 0, 0), "unmap");
    svc_close(handle, 0, 0, 0, 0, 0, 0);
    m[1] = sizeof capture; m[2] = static_buffer(sizeof capture, 0); m[3] = (u32)capture;
    check(ask(apt, 0x00400042), "capture");
}
static void run_applet(u32 id, const void *data, u32 size, u32 block) {
    u32 *m = message();
    check(ask1(apt, 0x00180040, id), "prepare");
    give_screens(id, 2);
    m[1] = id; m[2] = size; m[3] = 0; m[4] = block; m[5] = static_buffer(size, 0); m[6] = (u32)data;
    check(ask(apt, 0x001E0084), "start");
    check(ask1(apt, 0x00430040, SELF), "wait");
    receive();
}
static u32 *state;
static void keyboard(u32 buttons, u32 valid, u32 filter, u32 block) {
    static u8 data[0x400] __attribute__((aligned(4)));
    zero(data, sizeof data);
    zero(shared, sizeof shared);
    state = (u32 *)data;
    state[1] = buttons - 1; state[2] = valid; state[6] = filter;
    *(u16 *)(data + 0x20) = 8;
    put_utf16((u16 *)(data + 0x90), "name");
    state[0x120 / 4] = state[0x124 / 4] = (u32)-1;
    run_applet(KEYBOARD, data, sizeof data, block);
    while (command == 5) { /* the applet asks what the program thinks of the text */
        say_utf16("is it good", shared, 32);
        copy(data, parameter, sizeof data);
        *(s32 *)(data + 0x14C) = shared[0] == 'b' ? 2 : 0;
        put_utf16((u16 *)(data + 0x150), "no b");
        check(send(KEYBOARD, 5, data, sizeof data), "answer");
        receive();
    }
    say_number("keyboard", command);
    say_number("  bytes", received);
    say_number("  left by", *(u32 *)(parameter + 0x138) + 1);
    say_number("  length", *(u16 *)(parameter + 0x148));
    say_utf16("  text", shared, 32);
}
int main(void) {
    static u8 error[0xEEC] __attribute__((aligned(4))), mii[0x104] __attribute__((aligned(4)));
    u32 *m = message(), reply[4];
    apt = service("APT:U");
    check(ask1(apt, 0x00010040, 0), "lock");
    m[1] = SELF; m[2] = 0;
    check(ask(apt, 0x00020080), "initialize");
    notified = m[3]; resumed = m[4];
    check(ask1(apt, 0x00030040, 0), "enable");
    receive();
    say_number("woken", command);
    check(svc_create_block(3, (u32)shared, sizeof shared, 3, 0, 0, reply), "block");
    for (u32 n = 0; n < 2; n++) keyboard(2, 0, 0, reply[0]);
    keyboard(1, 1, 0, reply[0]);
    keyboard(3, 0, 1 << 5, reply[0]);
    keyboard(2, 0, 0, reply[0]);
    error[0] = 1;
    put_utf16((u16 *)(error + 0xC), "nothing works");
    run_applet(0x406, error, sizeof error, 0);
    say_number("error", command);
    say_number("  left by", parameter[0xEE7]);
    for (u32 n = 0; n < 2; n++) {
        run_applet(0x402, mii, sizeof mii, 0);
        say_number("no Mii", *(u32 *)parameter);
        say_utf16("  name", (u16 *)(parameter + 0x26), 10);
    }
    say("ready\n");
    for (;;) {
        wait_for(notified, FOREVER);
        check(ask1(apt, 0x000B0040, SELF), "inquire");
        u32 signal = m[2];
        say_number("signal", signal);
        if (signal == 1) {
            check(ask(apt, 0x002B0000), "prepare");
            give_screens(0x101, 16);
            m[1] = 0; m[2] = 0; m[3] = 0; m[4] = static_buffer(0, 0); m[5] = 0;
            check(ask(apt, 0x002C0044), "jump");
            receive();
            say_number("back", command);
        } else if (signal == 3) {
            m[1] = SELF; m[2] = 1;
            check(ask(apt, 0x003E0080), "agree");
        } else if (signal == 5) {
            check(ask1(apt, 0x003F0040, SELF), "asleep");
        } else if (signal == 11) {
            check(ask1(apt, 0x00220040, 1), "prepare to close");
            m[1] = 0; m[2] = 0; m[3] = 0; m[4] = static_buffer(0, 0); m[5] = 0;
            check(ask(apt, 0x00270044), "close");
            return 0;
        }
    }
}
