#include "runtime.h"

struct entry { u32 key, flags; u64 value[2]; };
static const struct entry *entries;
static u64 heap_at, heap_end;

/* Called before anything else is: no address of its own data may come from memory. */
enum { DT_NULL, DT_RELA = 7, DT_RELASZ = 8, R_AARCH64_RELATIVE = 1027 };
void relocate(u64 base, const u64 *dynamic) {
    u64 table = 0, size = 0;
    for (; dynamic[0] != DT_NULL; dynamic += 2) {
        if (dynamic[0] == DT_RELA) table = base + dynamic[1];
        if (dynamic[0] == DT_RELASZ) size = dynamic[1];
    }
    for (const u64 *one = (const u64 *)table; (u64)one < table + size; one += 3) {
        if (one[1] != R_AARCH64_RELATIVE) svc_break(0x80, one[1], 0, 0, 0, 0, 0);
        *(u64 *)(base + one[0]) = base + one[2];
    }
}

int run_main(const struct entry *from_loader) {
    entries = from_loader;
    heap_at = entry_value(HEAP, 0);
    heap_end = heap_at + entry_value(HEAP, 1);
    return main();
}

u64 entry_value(u32 key, u32 which) {
    for (const struct entry *one = entries; one && one->key; one++)
        if (one->key == key) return one->value[which];
    return 0;
}

/* What the compiler asks for. */
void *memset(void *to, int value, u64 size) {
    for (u64 n = 0; n < size; n++) ((volatile u8 *)to)[n] = (u8)value;
    return to;
}
void *memcpy(void *to, const void *from, u64 size) {
    for (u64 n = 0; n < size; n++) ((volatile u8 *)to)[n] = ((const u8 *)from)[n];
    return to;
}

static u64 length(const char *text) { u64 n = 0; while (text[n]) n++; return n; }
void say(const char *text) { svc_print((u64)text, length(text), 0, 0, 0, 0, 0); }
static void say_in(const char *what, u64 value, u32 base) {
    char line[32];
    u32 at = 31;
    line[at] = '\n';
    do { line[--at] = "0123456789abcdef"[value % base]; value /= base; } while (value);
    say(what); say(" ");
    svc_print((u64)(line + at), 32 - at, 0, 0, 0, 0, 0);
}
void say_number(const char *what, u64 value) { say_in(what, value, 10); }
void say_hex(const char *what, u64 value) { say_in(what, value, 16); }
void check(u32 result, const char *what) {
    if (result) { say_hex(what, result); svc_break(0, result, 0, 0, 0, 0, 0); leave((int)result); }
}

int equal(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}
/* The command line, cut at spaces; a part in " may have some. */
const char *argument(u32 number) {
    static char text[0x200];
    const char *from = (const char *)entry_value(ARGUMENTS, 1);
    for (u32 n = 0; from; n++) {
        while (*from == ' ') from++;
        if (!*from) return 0;
        u32 size = 0;
        int quoted = 0;
        for (; *from && (quoted || *from != ' '); from++)
            if (*from == '"') quoted = !quoted;
            else if (size < sizeof text - 1) text[size++] = *from;
        text[size] = 0;
        if (n == number) return text;
    }
    return 0;
}

void *memory(u64 size, u64 align) {
    u64 at = (heap_at + align - 1) & -align;
    if (at + size > heap_end) { say("no memory is left\n"); leave(1); }
    heap_at = at + size;
    return (void *)at;
}

void thread_begins(void);
u32 thread_start(void (*function)(u64), u64 argument, u32 priority) {
    u64 reply[4], size = 0x4000;
    u64 *top = (u64 *)((u8 *)memory(size, 0x1000) + size - 16);
    *top = (u64)function;
    check(svc_create_thread(0, (u64)thread_begins, argument, (u64)top, priority, (u64)-2, reply), "CreateThread");
    check(svc_start_thread(reply[0], 0, 0, 0, 0, 0, 0), "StartThread");
    return (u32)reply[0];
}
u32 wait_for(u32 handle, u64 nanoseconds) {
    u32 list[1] = {handle};
    return svc_wait(0, (u64)list, 1, nanoseconds, 0, 0, 0);
}
