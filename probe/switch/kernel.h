/* What a program of the Switch needs of the system: its start, supervisor calls, and messages to services.
 * Numbers and registers of calls: switchbrew, SVC. Messages: libnx's sf/hipc.h and sf/cmif.h. Licence: 0BSD. */
#pragma once
#include "../common/base.h"

#define CURRENT_PROCESS 0xFFFF8001u

/* A supervisor call: x0 to x3; x1 comes back in *reply, if it is not 0. Its value is the result. */
#define SVC(name, number)                                                                                             \
    static inline u32 name(u64 a0, u64 a1, u64 a2, u64 a3, u64 *reply) {                                              \
        register u64 x0 __asm__("x0") = a0;                                                                           \
        register u64 x1 __asm__("x1") = a1;                                                                           \
        register u64 x2 __asm__("x2") = a2;                                                                           \
        register u64 x3 __asm__("x3") = a3;                                                                           \
        __asm__ volatile("svc %4" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : "i"(number)                              \
                         : "memory", "cc", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",     \
                           "x15", "x16", "x17", "x18");                                                               \
        if (reply) *reply = x1;                                                                                       \
        return (u32)x0;                                                                                               \
    }
SVC(svc_set_memory_attribute, 0x03)
SVC(svc_query_memory, 0x06)
SVC(svc_sleep, 0x0B)
SVC(svc_create_transfer_memory, 0x15)
SVC(svc_close, 0x16)
SVC(svc_connect, 0x1F)
SVC(svc_send, 0x21)
SVC(svc_print, 0x27)

/* The program. What it returns is its result for the loader. */
int main(void);

/* What the loader left: a value of an entry, 0 if there is no such entry. Source: libnx's runtime/env.h. */
enum { ENTRY_HEAP = 3, ENTRY_APPLET = 7, ENTRY_VERSION = 16 };
u64 entry_value(u32 key, u32 which);
const char *loader_text(u32 *size);                        /* what it says of itself; there may be none */

void say(const char *text);                                /* for a debugger */
void zero(void *to, u64 size);                             /* both multiples of 16 */
void sleep_milliseconds(u32 time);
/* Waits until memory that was lent may be read and written again, but not for ever. */
void wait_for_memory(const void *at);

/* A request to a service, and what came back. Buffers are sent in both kinds that a service may want, unless `plain`.
 * pointers: what goes in are pointers only, as paths are. */
struct message {
    u32 command, size;                                     /* bytes of arguments */
    const void *arguments;
    u32 pid, plain, pointers, ins, outs, copies;
    const void *in[2];
    void *out[2];
    u64 in_size[2], out_size[2];
    u32 copy[2];
    /* the answer */
    const u32 *values;                                     /* in the thread's message: 0 after their end */
    u32 handles, handle[4];
};
u32 request(u32 session, struct message *one);             /* the result */
/* Values in, values out. */
u32 ask(u32 session, u32 command, const void *arguments, u32 size, void *values, u32 values_size);
u32 find_service(const char *name, u32 *session);
void close_session(u32 session);
void close_services(void);                                 /* the session that finds services */
