/* Messages to services, for guest programs of the tests. Commands: facts/n3ds/service_commands.tsv. */
#pragma once
#include "runtime.h"

/* The words of the message are set already, but for the header; the result. */
static inline u32 ask(u32 session, u32 header) {
    u32 *m = message();
    m[0] = header;
    u32 failed = svc_send(session, 0, 0, 0, 0, 0, 0);
    return failed ? failed : m[1];
}
static inline u32 ask1(u32 session, u32 header, u32 word) { message()[1] = word; return ask(session, header); }
static inline u32 static_buffer(u32 size, u32 number) { return size << 14 | number << 10 | 2; }
static inline u32 readable(u32 size) { return size << 4 | 10; }
static inline u32 writable(u32 size) { return size << 4 | 12; }
static inline u32 *receives(void) { return message() + 0x40; } /* static buffers: TLS+0x180 */

static inline u32 text_length(const char *text) { u32 n = 0; while (text[n]) n++; return n; }
static inline void zero(void *at, u32 size) { u8 *p = at; while (size--) *p++ = 0; }
static inline void copy(void *to, const void *from, u32 size) {
    u8 *a = to; const u8 *b = from;
    while (size--) *a++ = *b++;
}
static inline void say_hex(const char *what, u32 value) {
    static const char digits[] = "0123456789abcdef";
    char line[9];
    for (u32 i = 0; i < 8; i++) line[i] = digits[value >> (28 - 4 * i) & 15];
    line[8] = 0;
    say(what); say(" "); say(line); say("\n");
}
static inline void say_utf16(const char *what, const u16 *text, u32 most) {
    char line[2] = {0, 0};
    say(what); say(" ");
    for (u32 i = 0; i < most && text[i]; i++) { line[0] = text[i] < 128 ? text[i] : '?'; say(line); }
    say("\n");
}
static inline u32 put_utf16(u16 *to, const char *text) {
    u32 n = 0;
    do to[n] = (u8)text[n]; while (text[n++]);
    return 2 * n;
}
static inline void sleep_ns(u64 ns) { svc_sleep((u32)ns, (u32)(ns >> 32), 0, 0, 0, 0, 0); }
