/* Ports and sessions of the program itself: a thread answers messages of another one.
 *
 * Messages have no header of a command: data[0] is the number of what is wanted. */
#include "kernel_calls.h"
#include "services.h"

enum { REQUEST = 4, ECHO = 1, SUM, FILL, SIGNAL, GIVE, HANG_UP, SLOW };
enum { CLOSED = 0xF601, TIME_IS_UP = 0xEA01 };
#define BETTER 0x2B
static u32 port, held, sessions[8], count, thread;
static u8 pointers[0x40], shared_bytes[0x20], big[0x2000] __attribute__((aligned(0x1000)));
static u64 reply[4];

/* -- what a message is made of ---------------------------------------------------------------------------------- */
static u32 *pointer(u32 *at, u32 index, const void *data, u32 size) {
    u64 address = (u64)data;
    at[0] = index | (u32)(address >> 36 & 7) << 6 | (u32)(address >> 32 & 15) << 12 | size << 16;
    at[1] = (u32)address;
    return at + 2;
}
static u8 *pointed(const u32 *at) { return (u8 *)((u64)at[1] | (u64)(at[0] >> 12 & 15) << 32 | (u64)(at[0] >> 6 & 7) << 36); }
static u32 *written(u32 *at, void *data, u32 size) {
    u64 address = (u64)data;
    at[0] = size;
    at[1] = (u32)address;
    at[2] = (u32)(address >> 36 & 0x3FFFFF) << 2 | (u32)(address >> 32 & 15) << 28;
    return at + 3;
}
static u32 *place(u32 *at, void *data, u32 size) {
    at[0] = (u32)(u64)data;
    at[1] = (u32)((u64)data >> 32) | size << 16;
    return at + 2;
}

/* -- the thread that answers ------------------------------------------------------------------------------------ */
static u32 answer_to(u32 index, u32 *message) {
    u32 head = message[0], *at = message + 2, first = 0, pid = 0;
    if (message[1] >> 31) {
        u32 special = *at++;
        if (special & 1) pid = *at, at += 2;
        for (u32 n = 0; n < (special >> 1 & 15) + (special >> 5 & 15); n++, at++) if (!n) first = *at;
    }
    u32 *statics = at;
    at += 2 * (head >> 16 & 15);
    u32 *buffers = at;
    at += 3 * ((head >> 20 & 15) + (head >> 24 & 15));
    u32 wanted = at[0], value = at[1], sum = 0;
    if (wanted == HANG_UP) {
        check(svc_close(sessions[index], 0, 0, 0, 0, 0, 0), "CloseHandle");
        sessions[index] = sessions[--count];
        return 0;
    }
    if (wanted == SUM) for (u32 n = 0; n < statics[0] >> 16; n++) sum += pointed(statics)[n];
    u32 inside = wanted == SUM && pointed(statics) >= pointers && pointed(statics) < pointers + sizeof pointers;
    if (wanted == FILL) {
        u8 *to = (u8 *)((u64)buffers[1] | (u64)(buffers[2] >> 28) << 32 | (u64)(buffers[2] >> 2 & 0x3FFFFF) << 36);
        for (u32 n = 0; n < buffers[0]; n++) to[n] = (u8)(value + n);
    }
    if (wanted == SIGNAL) {
        sum = svc_signal_event(first, 0, 0, 0, 0, 0, 0);
        inside = svc_close(first, 0, 0, 0, 0, 0, 0);
    }
    if (wanted == SLOW) svc_sleep(1000000, 0, 0, 0, 0, 0, 0);
    at = message + 2;
    message[0] = wanted == GIVE ? 1 << 16 : 0;
    message[1] = 4;
    if (wanted == GIVE) {
        u64 made[4];
        check(svc_create_event(0, 0, 0, 0, 0, 0, made), "CreateEvent");
        svc_signal_event(made[0], 0, 0, 0, 0, 0, 0);
        svc_close(made[0], 0, 0, 0, 0, 0, 0);
        message[1] |= 1u << 31;
        *at++ = 1 << 5;
        *at++ = (u32)made[1];
        at = pointer(at, 0, "for you", 8);
    }
    at[0] = value + 1;
    at[1] = pid;
    at[2] = sum;
    at[3] = inside;
    return sessions[index];
}
static void answers(u64 argument) {
    sessions[0] = port;
    count = 1;
    for (;;) {
        u32 *message = tls(), result, index, session;
        u64 told[4];
        message[0] = 0;                                     /* nothing to say, and where pointers are wanted */
        message[1] = 2 << 10;
        place(message + 2, pointers, sizeof pointers);
        result = svc_reply_and_receive(0, (u64)sessions, count, 0, FOREVER, 0, told);
        index = (u32)told[0];
        if (result == CLOSED) {
            check(svc_close(sessions[index], 0, 0, 0, 0, 0, 0), "CloseHandle");
            sessions[index] = sessions[--count];
            continue;
        }
        if (result == 0xEC01) return;
        check(result, "ReplyAndReceive");
        if (index == 0) {
            check(svc_accept_session(0, port, 0, 0, 0, 0, told), "AcceptSession");
            sessions[count++] = (u32)told[0];
            continue;
        }
        session = answer_to(index, message);
        if (!session) continue;
        result = svc_reply_and_receive(0, 0, 0, session, 0, 0, told);
        if (result != TIME_IS_UP) say_hex("a reply", result);
    }
}

/* -- the one that asks ------------------------------------------------------------------------------------------ */
static u32 plain(u32 session, u32 wanted, u32 value) {
    u32 *message = tls();
    message[0] = REQUEST;
    message[1] = 2;
    message[2] = wanted;
    message[3] = value;
    return svc_send(session, 0, 0, 0, 0, 0, 0);
}
static void asks(u32 session) {
    u32 *message = tls(), *at;
    say_hex("echo", plain(session, ECHO, 41));
    say_number("  value", message[2]);
    message[0] = REQUEST;
    message[1] = 2 | 1u << 31;
    message[2] = 1;                                         /* the process id is sent */
    message[5] = ECHO;
    message[6] = 1;
    check(svc_send(session, 0, 0, 0, 0, 0, 0), "SendSyncRequest");
    say_hex("  process", message[3]);
    static const u8 numbers[] = {1, 2, 3, 4, 5};
    message[0] = REQUEST | 1 << 16;
    message[1] = 2;
    at = pointer(message + 2, 0, numbers, sizeof numbers);
    at[0] = SUM;
    say_hex("sum", svc_send(session, 0, 0, 0, 0, 0, 0));
    say_number("  of", message[4]);
    say_number("  from the server's memory", message[5]);
    message[0] = REQUEST | 1 << 16;
    at = pointer(message + 2, 0, numbers, 0x41);
    at[0] = SUM;
    say_hex("too much for it", svc_send(session, 0, 0, 0, 0, 0, 0));
    message[0] = REQUEST | 1 << 24;
    message[1] = 2;
    at = written(message + 2, shared_bytes, sizeof shared_bytes);
    at[0] = FILL;
    at[1] = 0x30;
    say_hex("fill", svc_send(session, 0, 0, 0, 0, 0, 0));
    say_hex("  last", shared_bytes[0x1F]);
    message[0] = REQUEST | 1 << 24;
    message[1] = 2;
    at = written(message + 2, (void *)0x1000, 0x20);
    at[0] = FILL;
    say_hex("no memory", svc_send(session, 0, 0, 0, 0, 0, 0));
    check(svc_create_event(0, 0, 0, 0, 0, 0, reply), "CreateEvent");
    message[0] = REQUEST;
    message[1] = 2 | 1u << 31;
    message[2] = 1 << 1;
    message[3] = (u32)reply[0];
    message[4] = SIGNAL;
    say_hex("copied handle", svc_send(session, 0, 0, 0, 0, 0, 0));
    say_hex("  signalled", message[4]);
    say_hex("  closed there", message[5]);
    say_hex("  still here", svc_close(reply[0], 0, 0, 0, 0, 0, 0));
    say_hex("  on", wait_for((u32)reply[1], 0));
    message[0] = REQUEST;
    message[1] = 2 | 1u << 31;
    message[2] = 1 << 5;
    message[3] = (u32)reply[1];
    message[4] = ECHO;
    say_hex("moved handle", svc_send(session, 0, 0, 0, 0, 0, 0));
    say_hex("  gone here", svc_close(reply[1], 0, 0, 0, 0, 0, 0));
    message[0] = REQUEST;
    message[1] = 2 | 1u << 31;
    message[2] = 1 << 1;
    message[3] = 0x7777;
    message[4] = ECHO;
    say_hex("wrong handle", svc_send(session, 0, 0, 0, 0, 0, 0));
    static u8 text[16];
    message[0] = REQUEST;
    message[1] = 2 | 2 << 10;
    message[2] = GIVE;
    place(message + 4, text, sizeof text);
    say_hex("given", svc_send(session, 0, 0, 0, 0, 0, 0));
    say_hex("  an event that is on", wait_for(message[3], 0));
    say((char *)text); say("\n");
    svc_close(message[3], 0, 0, 0, 0, 0, 0);
    say_hex("no place for its text", plain(session, GIVE, 0));
    u32 *far = (u32 *)big;
    far[0] = REQUEST;
    far[1] = 2;
    far[2] = ECHO;
    far[3] = 7;
    say_hex("in a buffer", svc_send_buffer((u64)big, 0x1000, session, 0, 0, 0, 0));
    say_number("  value", far[2]);
    say_hex("slow", plain(session, SLOW, 0));
}
static void asks_slowly(u64 session) { say_hex("another sender", plain((u32)session, SLOW, 0)); }
static void leaves_waiting(u64 session) { say_hex("who waited", plain((u32)session, ECHO, 0)); }

/* ReplyAndReceiveWithUserBuffer has more arguments than the others. */
static u32 receive_in_buffer(void *at, u64 size, u32 *list, u32 number, u32 target, u64 time, u32 *index) {
    register u64 x0 __asm__("x0") = 0;
    register u64 x1 __asm__("x1") = (u64)at;
    register u64 x2 __asm__("x2") = size;
    register u64 x3 __asm__("x3") = (u64)list;
    register u64 x4 __asm__("x4") = number;
    register u64 x5 __asm__("x5") = target;
    register u64 x6 __asm__("x6") = time;
    __asm__ volatile("svc #0x44" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x5), "+r"(x6) : : "memory", "cc", "x7", "x8",
                     "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18");
    *index = (u32)x1;
    return (u32)x0;
}
static void pairs(void) {
    u32 server, client, index, list[2];
    check(svc_create_session(0, 0, 0, 0, 0, 0, reply), "CreateSession");
    server = (u32)reply[0]; client = (u32)reply[1];
    say_hex("nothing has come", wait_for(server, 0));
    list[0] = server;
    say_hex("for a while", svc_reply_and_receive(0, (u64)list, 1, 0, 1000, 0, reply));
    u32 sender = thread_start(leaves_waiting, client, BETTER);
    say_hex("a message", wait_for(server, FOREVER));
    say_hex("  is there", receive_in_buffer(big, 0x1000, list, 1, 0, FOREVER, &index));
    say_number("  of", index);
    say_number("  wants", ((u32 *)big)[2]);
    say_hex("  no other", wait_for(server, 0));
    say_hex("close", svc_close(server, 0, 0, 0, 0, 0, 0));
    check(wait_for(sender, FOREVER), "join");
    say_hex("nobody answers", plain(client, ECHO, 0));
    svc_close(client, 0, 0, 0, 0, 0, 0);
    check(svc_create_session(0, 0, 0, 0, 0, 0, reply), "CreateSession");
    server = (u32)reply[0];
    list[0] = server;
    say_hex("no message to answer", svc_reply_and_receive(0, (u64)list, 1, server, 0, 0, 0));
    svc_close(reply[1], 0, 0, 0, 0, 0, 0);
    say_hex("the client is gone", svc_reply_and_receive(0, (u64)list, 1, 0, 0, 0, reply));
    say_number("  index", (u32)reply[0]);
    say_hex("  to answer", svc_reply_and_receive(0, (u64)list, 1, server, 0, 0, 0));
    svc_close(server, 0, 0, 0, 0, 0, 0);
    say_hex("no server", svc_reply_and_receive(0, 0, 0, CURRENT_THREAD, 0, 0, 0));
    say_hex("wrong handle", svc_reply_and_receive(0, (u64)list, 1, 0, 0, 0, 0));
}
static void ports(void) {
    say_hex("no session yet", svc_accept_session(0, port, 0, 0, 0, 0, reply));
    u32 first, second;
    check(svc_connect_to_port(0, held, 0, 0, 0, 0, reply), "ConnectToPort");
    first = (u32)reply[0];
    check(svc_connect_to_port(0, held, 0, 0, 0, 0, reply), "ConnectToPort");
    second = (u32)reply[0];
    say_hex("no third one", svc_connect_to_port(0, held, 0, 0, 0, 0, reply));
    thread = thread_start(answers, 0, BETTER);
    asks(first);
    u32 other = thread_start(asks_slowly, second, BETTER);
    say_hex("and this one", plain(first, SLOW, 0));
    check(wait_for(other, FOREVER), "join");
    say_hex("hangs up", plain(second, HANG_UP, 0));
    say_hex("  for good", plain(second, ECHO, 0));
    say_hex("still no third one", svc_connect_to_port(0, held, 0, 0, 0, 0, reply));
    svc_close(second, 0, 0, 0, 0, 0, 0);
    say_hex("now there is", svc_connect_to_port(0, held, 0, 0, 0, 0, reply));
    svc_close(reply[0], 0, 0, 0, 0, 0, 0);
    svc_close(first, 0, 0, 0, 0, 0, 0);
    svc_cancel(thread, 0, 0, 0, 0, 0, 0);
    check(wait_for(thread, FOREVER), "join");
    check(svc_close(port, 0, 0, 0, 0, 0, 0), "CloseHandle");
    say_hex("no port", svc_connect_to_port(0, held, 0, 0, 0, 0, reply));
    svc_close(held, 0, 0, 0, 0, 0, 0);
}
static void named(void) {
    say_hex("a name", svc_manage_named_port(0, (u64)"own", 1, 0, 0, 0, reply));
    port = (u32)reply[0];
    say_hex("  twice", svc_manage_named_port(0, (u64)"own", 1, 0, 0, 0, reply));
    say_hex("  too long", svc_manage_named_port(0, (u64)"a name that is long", 1, 0, 0, 0, reply));
    say_hex("  no sessions", svc_create_port(0, 0, 0, 0, 0, 0, reply));
    thread = thread_start(answers, 0, BETTER);
    check(svc_connect(0, (u64)"own", 0, 0, 0, 0, reply), "ConnectToNamedPort");
    u32 session = (u32)reply[0];
    say_hex("echo", plain(session, ECHO, 1));
    svc_close(session, 0, 0, 0, 0, 0, 0);
    say_hex("forgotten", svc_manage_named_port(0, (u64)"own", 0, 0, 0, 0, reply));
    say_hex("  twice", svc_manage_named_port(0, (u64)"own", 0, 0, 0, 0, reply));
    say_hex("  not found", svc_connect(0, (u64)"own", 0, 0, 0, 0, reply));
    svc_cancel(thread, 0, 0, 0, 0, 0, 0);
    check(wait_for(thread, FOREVER), "join");
    svc_close(port, 0, 0, 0, 0, 0, 0);
}
/* A program gets a handle of its process by sending the one that every thread has to itself. */
static void itself(void) {
    u32 list[1], index = 0, session;
    struct { char name[8]; u32 light, most; } wanted = {"own:srv", 0, 1};
    check(svc_connect(0, (u64)"sm:", 0, 0, 0, 0, reply), "sm:");
    u32 manager = (u32)reply[0];
    struct message one = {.command = 2, .arguments = &wanted, .size = sizeof wanted};
    say_hex("registered", request(manager, &one));
    port = one.handle[0];
    say_hex("  twice", request(manager, &one));
    say_hex("found", find_service("own:srv", &session));
    say_hex("a session waits", wait_for(port, 0));
    check(svc_accept_session(0, port, 0, 0, 0, 0, reply), "AcceptSession");
    list[0] = (u32)reply[0];
    u32 sender = thread_start(leaves_waiting, session, BETTER);
    check(svc_reply_and_receive(0, (u64)list, 1, 0, FOREVER, 0, reply), "ReplyAndReceive");
    u32 *message = tls();
    message[0] = 0;
    message[1] = 1u << 31;
    message[2] = 1 << 1;
    message[3] = CURRENT_PROCESS;
    say_hex("answered", svc_reply_and_receive(0, 0, 0, list[0], 0, 0, 0));
    check(wait_for(sender, FOREVER), "join");
    svc_close(list[0], 0, 0, 0, 0, 0, 0);
    struct message other = {.command = 3, .arguments = &wanted, .size = 8};
    say_hex("forgotten", request(manager, &other));
    say_hex("  twice", request(manager, &other));
    say_hex("not found", find_service("own:srv", &session));
    (void)index;
}
int main(void) {
    check(svc_create_port(0, 0, 2, 0, 0, 0, reply), "CreatePort");
    port = (u32)reply[0]; held = (u32)reply[1];
    ports(); pairs(); named(); itself();
    say("done\n");
    return 0;
}
