#include "kernel.h"

struct entry { u32 key, flags; u64 value[2]; };
static const struct entry *entries;

/* Called before anything else is: no address of its own data may come from memory. */
enum { DT_NULL, DT_RELA = 7, DT_RELASZ = 8, R_AARCH64_RELATIVE = 1027 };
void relocate(u64 base, const u64 *dynamic) {
    u64 table = 0, size = 0;
    for (; dynamic[0] != DT_NULL; dynamic += 2) {
        if (dynamic[0] == DT_RELA) table = base + dynamic[1];
        if (dynamic[0] == DT_RELASZ) size = dynamic[1];
    }
    for (const u64 *one = (const u64 *)table; (u64)one < table + size; one += 3)
        if (one[1] == R_AARCH64_RELATIVE) *(u64 *)(base + one[0]) = base + one[2];
}
int run_main(const struct entry *from_loader) {
    entries = from_loader;
    return main();
}
u64 entry_value(u32 key, u32 which) {
    for (const struct entry *one = entries; one && one->key; one++)
        if (one->key == key) return one->value[which];
    return 0;
}
const char *loader_text(u32 *size) {
    const struct entry *one = entries;
    while (one && one->key) one++;                         /* the last entry has it */
    *size = one && one->value[0] ? (u32)one->value[1] : 0;
    return *size ? (const char *)one->value[0] : "";
}
void say(const char *text) { svc_print((u64)text, strlen(text), 0, 0, 0); }
void zero(void *to, u64 size) {
    for (u8 *at = to, *end = at + size; at < end; at += 16) __asm__ volatile("stp xzr, xzr, [%0]" : : "r"(at) : "memory");
}
void sleep_milliseconds(u32 time) { svc_sleep(1000000ul * time, 0, 0, 0, 0); }
void wait_for_memory(const void *at) {
    enum { TRIES = 100, PAUSE = 10, READ_AND_WRITE = 3 };
    struct { u64 base, size; u32 type, attribute, permission, uses, device_uses, pad; } about = {0};
    for (u32 n = 0; n < TRIES; n++) {
        if (svc_query_memory((u64)&about, 0, (u64)at, 0, 0) || about.permission == READ_AND_WRITE) return;
        sleep_milliseconds(PAUSE);
    }
}

/* -- messages -- */
enum { REQUEST = 4, CLOSE = 2, SFCI = 0x49434653, SFCO = 0x4F434653, NO_ANSWER = 0xFFFFFFFF };
/* The thread's own 0x200 bytes; a message is at their start. */
static u32 *tls(void) {
    u32 *at;
    __asm__("mrs %0, tpidrro_el0" : "=r"(at));
    return at;
}
static u32 up(u32 size, u32 unit) { return (size + unit - 1) / unit * unit; }
static u32 *put_buffer(u32 *at, const void *data, u64 size) {
    u64 address = (u64)data;
    at[0] = (u32)size;
    at[1] = (u32)address;
    at[2] = (u32)(address >> 36 & 0x3FFFFF) << 2 | (u32)(size >> 32 & 15) << 24 | (u32)(address >> 32 & 15) << 28;
    return at + 3;
}
u32 request(u32 session, struct message *one) {
    u32 *message = tls(), *at = message + 2;
    u32 statics = one->plain ? 0 : one->ins, receives = one->plain ? 0 : one->outs, ins = one->pointers ? 0 : one->ins;
    u32 special = one->pid || one->copies, sizes = up(2 * receives, 4);
    u32 words = (16 + 16 + one->size + sizes + 3) / 4;
    message[0] = REQUEST | statics << 16 | ins << 20 | one->outs << 24;
    message[1] = words | (receives ? receives + 2 : 0) << 10 | special << 31;
    if (special) {
        *at++ = one->pid | one->copies << 1;
        if (one->pid) *at++ = 0, *at++ = 0;
        for (u32 n = 0; n < one->copies; n++) *at++ = one->copy[n];
    }
    for (u32 n = 0; n < statics; n++) {
        u64 address = one->pointers ? (u64)one->in[n] : 0, length = one->pointers ? one->in_size[n] : 0;
        *at++ = n | (u32)(address >> 36 & 7) << 6 | (u32)(address >> 32 & 15) << 12 | (u32)length << 16;
        *at++ = (u32)address;
    }
    for (u32 n = 0; n < ins; n++) at = put_buffer(at, one->in[n], one->in_size[n]);
    for (u32 n = 0; n < one->outs; n++) at = put_buffer(at, one->out[n], one->out_size[n]);
    u32 *end = at + words, *data = (u32 *)((u64)(at + 3) & ~15ul);
    while (at < end) *at++ = 0;
    for (u32 n = 0; n < receives; n++) *at++ = 0, *at++ = 0;
    data[0] = SFCI;
    data[1] = 0;
    data[2] = one->command;
    data[3] = 0;
    memcpy(data + 4, one->arguments, one->size);
    u32 result = svc_send(session, 0, 0, 0, 0);
    if (result) return result;
    at = message + 2;
    one->handles = 0;
    if (message[1] >> 31) {
        u32 head = *at++;
        if (head & 1) at += 2;
        u32 count = (head >> 1 & 15) + (head >> 5 & 15);
        for (u32 n = 0; n < count; n++, at++)
            if (n < COUNT(one->handle)) one->handle[one->handles++] = *at;
    }
    data = (u32 *)((u64)(at + 3) & ~15ul);
    if (data[0] != SFCO) return NO_ANSWER;
    one->values = data + 4;
    return data[2];
}
u32 ask(u32 session, u32 command, const void *arguments, u32 size, void *values, u32 values_size) {
    struct message one = {.command = command, .arguments = arguments, .size = size};
    u32 result = request(session, &one);
    if (!result) memcpy(values, one.values, values_size);
    return result;
}
void close_session(u32 session) {
    u32 *message = tls();
    message[0] = CLOSE;
    message[1] = 0;
    svc_send(session, 0, 0, 0, 0);
    svc_close(session, 0, 0, 0, 0);
}

static u32 manager;
void close_services(void) { if (manager) close_session(manager); manager = 0; }
u32 find_service(const char *name, u32 *session) {
    enum { REGISTER_CLIENT = 0, GET_SERVICE = 1 };
    u32 result;
    if (!manager) {
        u64 reply, nothing = 0;
        if ((result = svc_connect(0, (u64)"sm:", 0, 0, &reply))) return result;
        struct message one = {.command = REGISTER_CLIENT, .arguments = &nothing, .size = sizeof nothing, .pid = 1};
        if ((result = request((u32)reply, &one))) return result;
        manager = (u32)reply;
    }
    u8 text[8] = {0};
    for (u32 n = 0; n < sizeof text && name[n]; n++) text[n] = (u8)name[n];
    struct message one = {.command = GET_SERVICE, .arguments = text, .size = sizeof text};
    result = request(manager, &one);
    *session = !result && one.handles ? one.handle[0] : 0;
    return result || one.handles ? result : NO_ANSWER;
}
