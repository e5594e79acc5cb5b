#include "runtime.h"

void __attribute__((naked, section(".start"))) start(void) {
    __asm__ volatile("bl main\n svc 0x03\n");
}

static u32 length(const char *text) { u32 n = 0; while (text[n]) n++; return n; }
void say(const char *text) { svc_print((u32)text, length(text), 0, 0, 0, 0, 0); }
void say_number(const char *what, u32 value) {
    char line[16]; u32 at = 15;
    line[at] = '\n';
    do { line[--at] = '0' + value % 10; value /= 10; } while (value);
    say(what); say(" ");
    svc_print((u32)(line + at), 16 - at, 0, 0, 0, 0, 0);
}
void check(u32 result, const char *what) {
    if ((s32)result < 0) { say_number(what, result); svc_break(0, 0, 0, 0, 0, 0, 0); }
}
u32 wait_for(u32 handle, s64 ns) { return svc_wait(handle, 0, (u32)ns, (u32)(ns >> 32), 0, 0, 0); }
u32 *message(void) { u32 tls; __asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(tls)); return (u32 *)(tls + 0x80); }

static u32 srv;
u32 service(const char *name) {
    u32 reply[4];
    if (!srv) { check(svc_connect(0, (u32)"srv:", 0, 0, 0, 0, reply), "srv:"); srv = reply[0]; }
    u32 *m = message();
    m[0] = 0x00050100; m[1] = m[2] = 0;
    u32 n = length(name);
    for (u32 i = 0; i < n; i++) ((u8 *)(m + 1))[i] = name[i];
    m[3] = n; m[4] = 0;
    check(svc_send(srv, 0, 0, 0, 0, 0, 0), name);
    check(m[1], name);
    return m[3];
}

u32 gsp, gsp_event, gsp_client;
volatile u8 *gsp_shared;
static u32 linear_at;

u32 linear(u32 size) {
    u32 reply[4];
    check(svc_control_memory(0x10003, 0, 0, size, 3, 0, reply), "linear");
    return reply[0];
}
void gsp_start(void) {
    u32 reply[4], *m = message();
    gsp = service("gsp::Gpu");
    m[0] = 0x00160042; m[1] = 0; m[2] = 0; m[3] = CURRENT_PROCESS;
    check(svc_send(gsp, 0, 0, 0, 0, 0, 0), "AcquireRight");
    check(svc_create_event(0, 0, 0, 0, 0, 0, reply), "event");
    gsp_event = reply[0];
    m[0] = 0x00130042; m[1] = 1; m[2] = 0; m[3] = gsp_event;
    check(svc_send(gsp, 0, 0, 0, 0, 0, 0), "Register");
    check(m[1], "Register");
    gsp_client = m[2];
    check(svc_map_block(m[4], 0x10002000, 3, 0x10000000, 0, 0, 0), "map");
    gsp_shared = (volatile u8 *)0x10002000;
    m[0] = 0x000B0040; m[1] = 0;
    svc_send(gsp, 0, 0, 0, 0, 0, 0);
    (void)linear_at;
}
u32 gsp_wait(void) {
    u32 bits = 0;
    volatile u8 *queue = gsp_shared + 0x40 * gsp_client;
    wait_for(gsp_event, FOREVER);
    while (queue[1]) {
        bits |= 1u << queue[12 + queue[0]];
        queue[0] = (queue[0] + 1) % 52;
        queue[1]--;
    }
    return bits;
}
void gsp_present(u32 screen, u32 address, u32 stride, u32 format) {
    volatile u8 *info = gsp_shared + 0x200 + 0x80 * gsp_client + 0x40 * screen;
    u8 next = info[0] ^ 1;
    volatile u32 *entry = (volatile u32 *)(info + 4 + 28 * next);
    entry[0] = next; entry[1] = address; entry[2] = address; entry[3] = stride; entry[4] = format; entry[5] = next; entry[6] = 0;
    info[0] = next;
    info[1] = 1;
}
void gx(u32 w0, u32 w1, u32 w2, u32 w3, u32 w4, u32 w5, u32 w6, u32 w7) {
    volatile u8 *queue = gsp_shared + 0x800 + 0x200 * gsp_client;
    volatile u32 *slot = (volatile u32 *)(queue + 0x20 + 0x20 * ((queue[0] + queue[1]) % 15));
    u32 words[8] = {w0, w1, w2, w3, w4, w5, w6, w7}, *m = message();
    for (u32 i = 0; i < 8; i++) slot[i] = words[i];
    queue[1]++;
    m[0] = 0x000C0000;
    check(svc_send(gsp, 0, 0, 0, 0, 0, 0), "Trigger");
}
