/* What the console says of itself: settings, clocks, the font; by both protocols and in a domain. Then messages, until EXIT. */
#include "services.h"

enum { REQUEST = 4, CONTROL = 5, SFCI = 0x49434653, SFCO = 0x4F434653, TIPC = 16 };
enum { EXIT = 4, FOCUS = 15, OPERATION_MODE = 30, PERFORMANCE_MODE = 31 };
#define CLOCKS 0x5000000000ul
#define FONT 0x5000100000ul

/* A control message of a session: a value in, a value or a moved handle out. */
static u32 control(u32 session, u32 command, u32 argument) {
    u32 *message = tls();
    for (u32 n = 0; n < 16; n++) message[n] = 0;
    message[0] = CONTROL, message[1] = 9, message[4] = SFCI, message[6] = command, message[8] = argument;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "a control message");
    u32 *data = message + 4;                                   /* a handle fits before it */
    if (data[0] != SFCO) leave(1);
    check(data[2], "a control message's answer");
    return message[1] >> 31 ? message[3] : data[4];
}

/* A command of an object in a domain: one value in, the id of an object or a value out. */
static u32 in_domain(u32 session, u32 object, u32 command, u32 argument, u32 process) {
    u32 *message = tls(), *at = message + 2;
    for (u32 n = 0; n < 32; n++) message[n] = 0;
    message[0] = REQUEST, message[1] = 14 | (process != 0) << 31;
    if (process) at[0] = 1 | 1 << 1, at[3] = process, at += 4;
    u32 *data = (u32 *)((u64)(at + 3) & ~15ul);
    data[0] = 1 | 24 << 16, data[1] = object;                  /* a command; its header and 8 bytes of arguments */
    data[4] = SFCI, data[6] = command, data[8] = argument;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "a message to a domain");
    data = message + 4;
    if (data[4] != SFCO) leave(2);
    check(data[6], "an answer of a domain");
    return data[8];
}

/* A service by the short protocol: what libnx uses for sm: on some consoles. */
static u32 tipc_service(const char *name) {
    u64 reply[4];
    check(svc_connect(0, (u64)"sm:", 0, 0, 0, 0, reply), "sm:");
    u32 manager = (u32)reply[0], *message = tls();
    message[0] = TIPC + 0, message[1] = 2 | 1u << 31, message[2] = 1;
    for (u32 n = 3; n < 7; n++) message[n] = 0;
    check(svc_send(manager, 0, 0, 0, 0, 0, 0), "RegisterClient");
    check(message[2], "RegisterClient by TIPC");
    message[0] = TIPC + 1, message[1] = 2, message[2] = message[3] = 0;
    for (u32 n = 0; n < 8 && name[n]; n++) ((u8 *)(message + 2))[n] = (u8)name[n];
    check(svc_send(manager, 0, 0, 0, 0, 0, 0), "GetService");
    check(message[4], "GetService by TIPC");
    return message[3];
}

/* An object in the clocks' memory: the copy that holds. */
static const s64 *clock(u32 at, u32 size) {
    volatile const u32 *count = (const u32 *)(CLOCKS + at);
    return (const s64 *)(CLOCKS + at + 8 + (*count & 1) * size);
}

int main(void) {
    char language[9] = {0};
    u32 set = tipc_service("set");
    check(ask(set, 0, 0, 0, language, 8), "GetLanguageCode");
    say(language);
    say("\n");
    u8 version[0x100];
    struct message firmware = {.command = 3, .outs = 1, .out = {version}, .out_size = {sizeof version}};
    check(request(service("set:sys"), &firmware), "GetFirmwareVersion");
    say((const char *)version + 0x68);
    say("\n");

    u32 time = service("time:u"), shared = ask_object(time, 20, 0, 0);
    check(svc_map_shared_memory(shared, CLOCKS, 0x1000, 1, 0, 0, 0), "the clocks' memory");
    u64 seconds = (u64)(clock(0x38, 0x20)[0] + (s64)((clock(0, 0x18)[0] + (s64)(counter() * 625 / 12)) / 1000000000));
    say_number("time", seconds);
    u16 date[16];
    check(ask(ask_object(time, 3, 0, 0), 101, &seconds, 8, date, sizeof date), "ToCalendarTimeWithMyRule");
    say_number("year", date[0]);
    say((const char *)(date + 8));                             /* the zone */
    say("\n");

    u32 fonts = service("pl:u"), standard = 0, offset, size;
    check(ask(fonts, 3, &standard, 4, &offset, 4), "GetSharedMemoryAddressOffset");
    check(ask(fonts, 2, &standard, 4, &size, 4), "GetSize");
    check(svc_map_shared_memory(ask_object(fonts, 4, 0, 0), FONT, 0x1100000, 1, 0, 0, 0), "the fonts' memory");
    say_hex("font", *(const u32 *)(FONT + offset));
    say_hex("large", size > 100000);

    u32 applet = service("appletOE"), root = control(applet, 0, 0);
    u32 proxy = in_domain(applet, root, 0, 0, (u32)entry_value(PROCESS, 0));
    u32 own = in_domain(applet, proxy, 1, 0, 0);
    in_domain(applet, own, 11, 1, 0);                          /* tell changes of the operation mode */
    in_domain(applet, own, 12, 1, 0);                          /* and of the performance mode */
    u32 state = control(applet, 1, in_domain(applet, proxy, 0, 0, 0)), messages = ask_object(state, 0, 0, 0);
    say_number("focus", in_domain(applet, in_domain(applet, proxy, 0, 0, 0), 9, 0, 0));
    for (u32 message = 0; message != EXIT;) {
        check(wait_for(messages, FOREVER), "a wait for messages");
        check(ask(state, 1, 0, 0, &message, 4), "ReceiveMessage");
        say_number("message", message);
        u32 value = 0;
        if (message == OPERATION_MODE && !ask(state, 5, 0, 0, &value, 1)) say_number("docked", value);
        if (message == PERFORMANCE_MODE && !ask(state, 6, 0, 0, &value, 4)) say_number("performance", value);
        if (message == FOCUS && !ask(state, 9, 0, 0, &value, 1)) say_number("focus", value);
    }
    say_hex("no more", ask(state, 1, 0, 0, 0, 0));
    return 0;
}
