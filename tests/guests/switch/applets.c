/* Library applets, in a domain as libnx has them: keyboards whose text a script gives, an error; and lines for the log. */
#include "services.h"

enum { REQUEST = 4, CONTROL = 5, SFCI = 0x49434653, SFCO = 0x4F434653 };
enum { ERROR = 0x0E, KEYBOARD = 0x11, TEXT = 0x7D4 };
static u32 session;

/* A command of an object in the domain. given: the id of an object that goes along, 0 for none. */
struct command {
    u32 object, number, size, given, copy, process;
    const void *arguments, *in;
    void *out;
    u64 in_size, out_size;
};
static u32 *values;                                            /* what came back: values, then ids of objects */
static u32 handle;

static u32 *buffer(u32 *at, const void *data, u64 size) {
    u64 address = (u64)data;
    at[0] = (u32)size, at[1] = (u32)address;
    at[2] = (u32)(address >> 36) << 2 | (u32)(address >> 32 & 15) << 28;
    return at + 3;
}
static u32 command(struct command one) {
    u32 *message = tls(), *at = message + 2, special = one.copy != 0;
    for (u32 n = 0; n < 64; n++) message[n] = 0;
    message[0] = REQUEST | (one.in != 0) << 20 | (one.out != 0) << 24;
    if (special) {
        *at++ = one.process | 1 << 1;
        if (one.process) at += 2;
        *at++ = one.copy;
    }
    if (one.in) at = buffer(at, one.in, one.in_size);
    if (one.out) at = buffer(at, one.out, one.out_size);
    u32 *data = (u32 *)((u64)(at + 3) & ~15ul);
    message[1] = (16 + 32 + one.size + 4) / 4 | special << 31;
    data[0] = 1 | (one.given != 0) << 8 | (16 + one.size) << 16, data[1] = one.object;
    data[4] = SFCI, data[6] = one.number;
    for (u32 n = 0; n < one.size; n++) ((u8 *)(data + 8))[n] = ((const u8 *)one.arguments)[n];
    data[8 + one.size / 4] = one.given;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "a message to a domain");
    at = message + 2;
    handle = 0;
    if (message[1] >> 31) handle = at[1], at += 2;
    data = (u32 *)((u64)(at + 3) & ~15ul);
    if (data[4] != SFCO) leave(2);
    values = data + 8;
    return data[6];
}
static u32 object(u32 from, u32 number, const void *arguments, u32 size) {
    check(command((struct command){.object = from, .number = number, .arguments = arguments, .size = size}), "an object");
    return values[0];
}
static u32 got_event(u32 from, u32 number) {
    check(command((struct command){.object = from, .number = number}), "an event");
    return handle;
}
static void forget(u32 one) {
    u32 *message = tls();
    for (u32 n = 0; n < 16; n++) message[n] = 0;
    message[0] = REQUEST, message[1] = 8, message[4] = 2, message[5] = one;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "the end of an object");
}

/* Storages: appletCreateStorage, appletStorageWrite, appletStorageRead. */
static u32 creator;
static void push(u32 applet, u32 number, const void *data, u64 size) {
    u64 offset = 0;
    u32 one = object(creator, 10, &size, 8), accessor = object(one, 0, 0, 0);
    struct command write = {.object = accessor, .number = 10, .arguments = &offset, .size = 8, .in = data, .in_size = size};
    check(command(write), "Write");
    forget(accessor);
    check(command((struct command){.object = applet, .number = number, .given = one}), "PushInData");
    forget(one);
}
static void pop(u32 applet, u32 number, void *data, u64 size) {
    u64 offset = 0;
    u32 one = object(applet, number, 0, 0), accessor = object(one, 0, 0, 0);
    struct command read = {.object = accessor, .number = 11, .arguments = &offset, .size = 8, .out = data, .out_size = size};
    check(command(read), "Read");
    forget(accessor);
    forget(one);
}

static u8 common[0x20], config[0x4C8], reply[8 + TEXT], work[0x1000] __attribute__((aligned(0x1000)));
static u32 made(u32 id, const void *data, u64 size) {
    u32 arguments[2] = {id, 0}, applet = object(creator, 0, arguments, 8);
    *(u32 *)common = 1, *(u32 *)(common + 4) = sizeof common;
    push(applet, 100, common, sizeof common);
    push(applet, 100, data, size);
    return applet;
}
static void say_text(const char *what, const u8 *text) {
    static char shown[256];
    u32 n = 0;
    for (; text[2 * n] && n < 255; n++) shown[n] = (char)text[2 * n];
    shown[n] = 0;
    say(what);
    say(shown);
    say("\n");
}

/* swkbdShow. */
static void keyboard(u32 checks) {
    config[0x3D0] = (u8)checks;
    u32 applet = made(KEYBOARD, config, sizeof config);
    u64 lent[4];
    check(svc_create_transfer_memory(0, (u64)work, sizeof work, 0, 0, 0, lent), "transfer memory");
    u64 arguments[2] = {1, sizeof work};
    struct command store = {.object = creator, .number = 11, .arguments = arguments, .size = 16, .copy = (u32)lent[0]};
    check(command(store), "a storage");
    u32 storage = values[0], changed = got_event(applet, 0), asked = got_event(applet, 106);
    check(command((struct command){.object = applet, .number = 100, .given = storage}), "PushInData");
    forget(storage);
    check(command((struct command){.object = applet, .number = 10}), "Start");
    u32 both[2] = {asked, changed};
    for (;;) {
        u64 which[4];
        check(svc_wait(0, (u64)both, 2, FOREVER, 0, 0, which), "a wait for the keyboard");
        if (which[0]) break;
        pop(applet, 104, reply, sizeof reply);
        say_text("asked ", reply + 8);
        u32 good = reply[8 + 2 * 3] != 0;                      /* four characters or more */
        *(u32 *)reply = good ? 0 : 1;
        for (u32 n = 0; n < 6; n++) reply[4 + 2 * n] = (u8)"short"[n], reply[5 + 2 * n] = 0;
        push(applet, 103, reply, 4 + TEXT);
    }
    say_hex("result", command((struct command){.object = applet, .number = 30}));
    pop(applet, 101, reply, 4 + TEXT);
    say_number("cancelled", *(u32 *)reply);
    say_text("text ", reply + 4);
    forget(applet);
    check(svc_close((u32)lent[0], 0, 0, 0, 0, 0, 0), "CloseHandle");
    say_hex("again mine", (work[0] = 1));
}

static void log_line(u32 logger, const char *text) {
    static u8 packet[0x18 + 2 + 64];
    u32 size = 0;
    for (; text[size]; size++) packet[0x1A + size] = (u8)text[size];
    packet[0x10] = 3, *(u32 *)(packet + 0x14) = size + 2, packet[0x18] = 2, packet[0x19] = (u8)size;
    struct message one = {.command = 0, .ins = 1, .in = {packet}, .in_size = {0x1A + size}};
    check(request(logger, &one), "Log");
}

int main(void) {
    u64 zero = 0;
    session = service("appletOE");
    u32 *message = tls();
    for (u32 n = 0; n < 16; n++) message[n] = 0;
    message[0] = CONTROL, message[1] = 9, message[4] = SFCI;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "ConvertCurrentObjectToDomain");
    struct command proxy = {
        .object = message[8], .number = 0, .arguments = &zero, .size = 8, .copy = (u32)entry_value(PROCESS, 0), .process = 1};
    check(command(proxy), "OpenApplicationProxy");
    u32 application = values[0];
    creator = object(application, 11, 0, 0);

    keyboard(0);
    keyboard(1);
    keyboard(0);
    static u8 error[0x1014] = {2, 1};
    for (u32 n = 0; n < 10; n++) error[0x14 + n] = (u8)"no cheese"[n];
    u32 shown = made(ERROR, error, sizeof error);
    check(command((struct command){.object = shown, .number = 10}), "Start");
    check(wait_for(got_event(shown, 0), FOREVER), "a wait for the error");
    pop(shown, 101, reply, 2);
    say_number("status", reply[1]);

    struct message one = {.command = 0, .arguments = &zero, .size = 8, .pid = 1};
    check(request(service("lm"), &one), "OpenLogger");
    log_line(one.handle[0], "logged");
    u32 microphone;
    say_hex("audin:u", find_service("audin:u", &microphone));
    return 0;
}
