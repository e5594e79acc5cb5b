/* Supervisor calls and messages to services. Licence: 0BSD. */
#pragma once
#include "facts.h"

#define CURRENT_PROCESS 0xFFFF8001u
#define FOREVER (-1LL)
#define SECOND 1000000000LL                              /* in nanoseconds */
#define TICKS_OF_SECOND 268111856u

/* A supervisor call: six arguments, the replies in reply[0..3]. */
#define SVC(name, number)                                                                                              \
    static inline u32 name(u32 a0, u32 a1, u32 a2, u32 a3, u32 a4, u32 a5, u32 *reply) {                               \
        register u32 r0 __asm__("r0") = a0;                                                                            \
        register u32 r1 __asm__("r1") = a1;                                                                            \
        register u32 r2 __asm__("r2") = a2;                                                                            \
        register u32 r3 __asm__("r3") = a3;                                                                            \
        register u32 r4 __asm__("r4") = a4;                                                                            \
        register u32 r5 __asm__("r5") = a5;                                                                            \
        __asm__ volatile("svc %c6" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5) : "i"(number) : "r12", "memory"); \
        if (reply) { reply[0] = r1; reply[1] = r2; reply[2] = r3; reply[3] = r4; }                                     \
        return r0;                                                                                                     \
    }
SVC(svc_control_memory, SVC_CONTROL_MEMORY)
SVC(svc_query_memory, SVC_QUERY_MEMORY)
SVC(svc_exit_process, SVC_EXIT_PROCESS)
SVC(svc_sleep, SVC_SLEEP_THREAD)
SVC(svc_create_event, SVC_CREATE_EVENT)
SVC(svc_release_mutex, SVC_RELEASE_MUTEX)
SVC(svc_map_block, SVC_MAP_MEMORY_BLOCK)
SVC(svc_close, SVC_CLOSE_HANDLE)
SVC(svc_wait, SVC_WAIT_SYNCHRONIZATION)
SVC(svc_tick, SVC_GET_SYSTEM_TICK)
SVC(svc_connect, SVC_CONNECT_TO_PORT)
SVC(svc_send, SVC_SEND_SYNC_REQUEST)
SVC(svc_print, SVC_OUTPUT_DEBUG_STRING)
SVC(svc_system_info, SVC_GET_SYSTEM_INFO)

static inline bool failed(u32 result) { return (s32)result < 0; }
static inline void close_handle(u32 handle) { svc_close(handle, 0, 0, 0, 0, 0, 0); }

/* The words of a message; the buffers that a service may write to. */
u32 *message(void);
u32 *receives(void);
u32 ask(u32 session, u32 header);                        /* the words are set but for the header; the result */
static inline u32 static_buffer(u32 size, u32 number) { return size << 14 | number << 10 | 2; }
static inline u32 readable(u32 size) { return size << 4 | 10; }
static inline u32 writable(u32 size) { return size << 4 | 12; }
#define PROCESS_ID 0x20u                                 /* the kernel fills the next word in */

u32 service(const char *name);                           /* a session; 0: there is none */
u32 wait_for(u32 handle, s64 nanoseconds);
void sleep_for(s64 nanoseconds);
u64 ticks(void);
void say(const char *text);                              /* for a debugger */
u32 allocate(u32 size, bool linear);                     /* whole pages; 0: there are not so many */
u32 map_shared(u32 block, u32 size, u32 permission);     /* at any free address; 0: it failed */

/* What the loader of a .3dsx and the program agree on; it is at the beginning of the code. */
struct start_block { u32 branch, magic, services, app_id, heap, linear_heap, arguments, flags; };
extern struct start_block start_block;
extern u32 loader_return;
enum { FLAG_NO_APPLETS = 1, FLAG_APPLETS_AGAIN = 2 };

/* Applets: the console lets a program run when it has said that it is there. */
void applets_begin(void);
bool is_new_model(void);
bool applets_end_asked(void);                            /* whether the console wants the program to end */
void leave(void) __attribute__((noreturn));
