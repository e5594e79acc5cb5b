/* A small runtime for guest programs of the tests: supervisor calls, messages, and the graphics service.
 * Numbers and registers: facts/n3ds/supervisor_calls.tsv; commands: facts/n3ds/calls.tsv. */
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef signed int s32;
typedef unsigned long long u64;
typedef signed long long s64;

#define CURRENT_PROCESS 0xFFFF8001u
#define FOREVER (-1LL)
#define LINEAR 0x30000000u

int main(void);

/* A supervisor call: six arguments, the replies in reply[0..3]. */
#define SVC(name, number)                                                                                              \
    static inline u32 name(u32 a0, u32 a1, u32 a2, u32 a3, u32 a4, u32 a5, u32 *reply) {                               \
        register u32 r0 __asm__("r0") = a0;                                                                            \
        register u32 r1 __asm__("r1") = a1;                                                                            \
        register u32 r2 __asm__("r2") = a2;                                                                            \
        register u32 r3 __asm__("r3") = a3;                                                                            \
        register u32 r4 __asm__("r4") = a4;                                                                            \
        register u32 r5 __asm__("r5") = a5;                                                                            \
        __asm__ volatile("svc %c6" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5) : "i"(number) : "memory"); \
        if (reply) { reply[0] = r1; reply[1] = r2; reply[2] = r3; reply[3] = r4; }                                     \
        return r0;                                                                                                     \
    }
SVC(svc_control_memory, 0x01)
SVC(svc_query_memory, 0x02)
SVC(svc_exit_process, 0x03)
SVC(svc_create_thread, 0x08)
SVC(svc_exit_thread, 0x09)
SVC(svc_sleep, 0x0A)
SVC(svc_create_mutex, 0x13)
SVC(svc_release_mutex, 0x14)
SVC(svc_create_semaphore, 0x15)
SVC(svc_release_semaphore, 0x16)
SVC(svc_create_event, 0x17)
SVC(svc_signal_event, 0x18)
SVC(svc_clear_event, 0x19)
SVC(svc_create_timer, 0x1A)
SVC(svc_set_timer, 0x1B)
SVC(svc_cancel_timer, 0x1C)
SVC(svc_map_block, 0x1F)
SVC(svc_create_arbiter, 0x21)
SVC(svc_arbitrate, 0x22)
SVC(svc_close, 0x23)
SVC(svc_wait, 0x24)
SVC(svc_wait_n, 0x25)
SVC(svc_duplicate, 0x27)
SVC(svc_tick, 0x28)
SVC(svc_connect, 0x2D)
SVC(svc_send, 0x32)
SVC(svc_break, 0x3C)
SVC(svc_print, 0x3D)

void say(const char *text);
void say_number(const char *what, u32 value);
void check(u32 result, const char *what);
u32 wait_for(u32 handle, s64 nanoseconds);
u32 *message(void);
u32 service(const char *name);

extern u32 gsp, gsp_event, gsp_client;
extern volatile u8 *gsp_shared;
void gsp_start(void);
u32 gsp_wait(void);                                       /* a bit for each interrupt that came */
void gsp_present(u32 screen, u32 address, u32 stride, u32 format);
void gx(u32 w0, u32 w1, u32 w2, u32 w3, u32 w4, u32 w5, u32 w6, u32 w7);
u32 linear(u32 size);
