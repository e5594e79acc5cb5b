/* What a player does, read from hid's shared memory 60 times a second, and messages of the console; until PLUS or EXIT. */
#include "services.h"

enum { PAD = 0x9A00 + 0x28, TOUCH = 0x400, MOTION = 0x9A00 + 0x1758, TAIL = 0x10, COUNT = 0x18, FIRST = 0x20 };
enum { PAD_ENTRY = 0x30, TOUCH_ENTRY = 0x298, MOTION_ENTRY = 0x68, PLUS = 0x400, EXIT = 4 };
#define SHARED 0x5000000000ul

/* The state in the newest entry of a ring. */
static const u8 *newest(u32 ring, u32 size) {
    volatile const u64 *tail = (const u64 *)(SHARED + ring + TAIL);
    return (const u8 *)(SHARED + ring + FIRST + *tail * size + 8);
}

int main(void) {
    u64 who[2] = {0, 0};
    struct message open = {.arguments = who, .size = 8, .pid = 1, .copies = 1, .copy = {(u32)entry_value(PROCESS, 0)}};
    check(request(service("appletOE"), &open), "OpenApplicationProxy");
    u32 state = ask_object(open.handle[0], 0, 0, 0), messages = ask_object(state, 0, 0, 0);

    u32 hid = service("hid");
    struct message create = {.arguments = who, .size = 8, .pid = 1};
    check(request(hid, &create), "CreateAppletResource");
    u32 block = ask_object(create.handle[0], 0, 0, 0);
    check(svc_map_shared_memory(block, SHARED, 0x40000, 1, 0, 0, 0), "MapSharedMemory");
    u32 number = 0, sensor[4] = {3, 0, 0, 0};
    struct message ids = {
        .command = 102, .arguments = who, .size = 8, .pid = 1, .pointers = 1, .ins = 1, .in = {&number}, .in_size = {4}};
    check(request(hid, &ids), "SetSupportedNpadIdType");
    struct { u32 styles, pad; u64 who; } styles = {0x1F, 0, 0};
    struct message set = {.command = 100, .arguments = &styles, .size = 16, .pid = 1};
    check(request(hid, &set), "SetSupportedNpadStyleSet");
    struct message start = {.command = 66, .arguments = sensor, .size = 16, .pid = 1};
    check(request(hid, &start), "StartSixAxisSensor");
    say_hex("style", *(const u32 *)(SHARED + 0x9A00));
    u32 absent;
    say_hex("hid:dbg", find_service("hid:dbg", &absent));

    u64 buttons = 0, left = 0;
    u32 touches = 0, point = 0, turned = 0;
    for (;;) {
        svc_sleep_x(16666667, 0, 0, 0, 0, 0, 0);
        const u8 *pad = newest(PAD, PAD_ENTRY), *touch = newest(TOUCH, TOUCH_ENTRY);
        u64 now = *(const u64 *)(pad + 8);
        if (now != buttons) say_hex("buttons", now);
        if (*(const u64 *)(pad + 0x10) != left) {
            left = *(const u64 *)(pad + 0x10);
            say_hex("left x", (u32)left);
            say_hex("left y", (u32)(left >> 32));
        }
        u32 fingers = *(const u32 *)(touch + 8), here = fingers ? *(const u32 *)(touch + 0x20) : 0;
        if (fingers != touches || here != point) {
            say_number("touches", fingers);
            for (u32 n = 0; n < fingers; n++) {
                say_number("x", *(const u32 *)(touch + 0x10 + 0x28 * n + 0x10));
                say_number("y", *(const u32 *)(touch + 0x10 + 0x28 * n + 0x14));
            }
        }
        u32 turns = *(const u32 *)(newest(MOTION, MOTION_ENTRY) + 0x20);
        if (turns != turned) say_hex("turns", turns);
        buttons = now, touches = fingers, point = here, turned = turns;
        if (buttons & PLUS) break;
        if (!wait_for(messages, 0)) {
            u32 message;
            check(ask(state, 1, 0, 0, &message, 4), "ReceiveMessage");
            say_number("message", message);
            if (message == EXIT) break;
        }
    }
    check(svc_unmap_shared_memory(block, SHARED, 0x40000, 0, 0, 0, 0), "UnmapSharedMemory");
    return 0;
}
