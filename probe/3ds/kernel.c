/* Start and end of the program, supervisor calls, sessions. */
#include "kernel.h"

/* The start block; the loader fills it in. The first stack may have one page, so there is another. */
__asm__(
    ".section .start, \"ax\"\n"
    ".global start\n"
    ".global start_block\n"
    ".type start_block, %object\n"
    "start_block:\n"
    "start: b begin\n"
    ".ascii \"_prm\"\n"
    ".word 0, 0, 0, 0, 0, 0\n"
    "begin:\n"
    "ldr r0, =loader_return\n"
    "str lr, [r0]\n"
    "ldr sp, =stack + 0x8000\n"
    "bl main\n"
    "bl leave\n"
    ".pool\n"
    ".text\n");
u8 stack[0x8000] __attribute__((aligned(16)));
u32 loader_return;

u32 *message(void) { u32 tls; __asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(tls)); return (u32 *)(tls + 0x80); }
u32 *receives(void) { return message() + 0x40; }
u32 ask(u32 session, u32 header) {
    u32 *m = message();
    m[0] = header;
    u32 result = svc_send(session, 0, 0, 0, 0, 0, 0);
    return failed(result) ? result : m[1];
}
u32 wait_for(u32 handle, s64 nanoseconds) { return svc_wait(handle, 0, (u32)nanoseconds, (u32)(nanoseconds >> 32), 0, 0, 0); }
void sleep_for(s64 nanoseconds) { svc_sleep((u32)nanoseconds, (u32)(nanoseconds >> 32), 0, 0, 0, 0, 0); }
u64 ticks(void) {
    u32 reply[4];
    u32 low = svc_tick(0, 0, 0, 0, 0, 0, reply);
    return low | (u64)reply[0] << 32;
}
void say(const char *text) { svc_print((u32)text, strlen(text), 0, 0, 0, 0, 0); }

u32 service(const char *name) {
    static u32 srv;
    u32 reply[4], *m = message(), size = strlen(name);
    if (size > 8) return 0;
    /* A loader may have opened sessions for the program. */
    u32 *list = (u32 *)start_block.services;
    for (u32 n = 0; list && n < *list; n++) {
        const char *known = (const char *)(list + 1 + 3 * n);
        if (!memcmp(known, name, size) && (size == 8 || !known[size])) return list[3 + 3 * n];
    }
    if (!srv) {
        if (failed(svc_connect(0, (u32)"srv:", 0, 0, 0, 0, reply))) return 0;
        srv = reply[0];
        m[1] = PROCESS_ID;
        ask(srv, SRV_REGISTER_CLIENT);
    }
    m[1] = m[2] = 0;
    memcpy(m + 1, name, size);
    m[3] = size;
    m[4] = 0;
    return failed(ask(srv, SRV_GET_SERVICE_HANDLE_DIRECT)) ? 0 : m[3];
}
u32 allocate(u32 size, bool linear) {
    enum { ALLOCATE = 3, LINEAR = 0x10000, READ_WRITE = 3, HEAP = 0x08000000 };
    static u32 next = HEAP;
    u32 reply[4];
    size = (size + 0xFFF) & ~0xFFFu;
    if (failed(svc_control_memory(ALLOCATE | (linear ? LINEAR : 0), linear ? 0 : next, 0, size, READ_WRITE, 0, reply))) return 0;
    if (!linear) next += size;
    return reply[0];
}
u32 map_shared(u32 block, u32 size, u32 permission) {
    enum { FIRST = 0x10000000, END = 0x14000000, DEFAULT = 0x10000000 };
    u32 reply[4];
    for (u32 at = FIRST; at < END;) {
        if (failed(svc_query_memory(0, 0, at, 0, 0, 0, reply))) return 0;
        u32 end = reply[0] + reply[1], state = reply[3];
        if (end <= at) end = END;
        if (!state && end - at >= size) {
            if (!failed(svc_map_block(block, at, permission, DEFAULT, 0, 0, 0))) return at;
            at += 0x1000;
        } else {
            at = end;
        }
    }
    return 0;
}

/* Each request has a session of its own, under a lock. */
static u32 lock, notified, resumed;
static u32 ask_applets(u32 header, const u32 *words, u32 count) {
    static const char *const names[] = {"APT:S", "APT:A", "APT:U"};
    u32 session = 0, *m = message(), result;
    if (lock) wait_for(lock, FOREVER);
    for (u32 n = 0; n < COUNT(names) && !session; n++) session = service(names[n]);
    for (u32 n = 0; n < count; n++) m[1 + n] = words[n];
    result = session ? ask(session, header) : 0xFFFFFFFFu;
    if (session) close_handle(session);
    if (lock) svc_release_mutex(lock, 0, 0, 0, 0, 0, 0);
    return result;
}
void applets_begin(void) {
    enum { WAKE_UP = 1, TRIES = 10 };
    static u8 parameter[0x1000];
    u32 id = start_block.app_id ? start_block.app_id : 0x300, *m = message();
    if (start_block.flags & FLAG_NO_APPLETS) return;
    if (failed(ask_applets(APT_GET_LOCK_HANDLE, (u32[]){0}, 1))) return;
    lock = m[5];
    if (failed(ask_applets(APT_INITIALIZE, (u32[]){id, 0}, 2))) return;
    notified = m[3];
    resumed = m[4];
    ask_applets(APT_ENABLE, (u32[]){0}, 1);
    ask_applets(APT_NOTIFY_TO_WAIT, (u32[]){id}, 1);
    for (u32 n = 0; n < TRIES; n++) {
        wait_for(resumed, SECOND / 4);
        receives()[0] = static_buffer(sizeof parameter, 0);
        receives()[1] = (u32)parameter;
        if (!failed(ask_applets(APT_RECEIVE_PARAMETER, (u32[]){id, sizeof parameter}, 2)) && m[3] == WAKE_UP) return;
    }
}
bool is_new_model(void) { return !failed(ask_applets(APT_CHECK_NEW3DS_SYSTEM, 0, 0)) && message()[2] & 255; }
bool applets_end_asked(void) {
    enum { CLOSE = 11, SHUT_DOWN = 7 };
    if (!notified || wait_for(notified, 0)) return false;
    u32 id = start_block.app_id ? start_block.app_id : 0x300;
    return !failed(ask_applets(APT_INQUIRE_NOTIFICATION, (u32[]){id}, 1)) && (message()[2] == CLOSE || message()[2] == SHUT_DOWN);
}
void leave(void) {
    if (start_block.flags & (FLAG_NO_APPLETS | FLAG_APPLETS_AGAIN) && loader_return) {
        /* The loader lives in this process, and goes on. */
        if (!(start_block.flags & FLAG_NO_APPLETS)) ask_applets(APT_FINALIZE, (u32[]){start_block.app_id}, 1);
        ((void (*)(void))loader_return)();
    }
    ask_applets(APT_PREPARE_TO_CLOSE_APPLICATION, (u32[]){1}, 1);
    ask_applets(APT_CLOSE_APPLICATION, (u32[]){0, 0, 0, static_buffer(0, 0), 0}, 5);
    for (;;) svc_exit_process(0, 0, 0, 0, 0, 0, 0);
}
