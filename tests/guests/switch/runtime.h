/* A small runtime for guest programs of the tests: start, arguments, supervisor calls, text, threads.
 * Numbers and registers of calls: facts/switch/supervisor_calls.tsv. */
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef signed int s32;
typedef unsigned long u64;
typedef signed long s64;

#define CURRENT_THREAD 0xFFFF8000u
#define CURRENT_PROCESS 0xFFFF8001u
#define FOREVER (~0ul)
#define KEEP __attribute__((noinline, noclone))

/* The program. What it returns is its result for the loader. */
int main(void);

/* A supervisor call: x0 to x5; the replies x1 to x4 come in reply[0..3], if it is not 0. Its value is w0, the result.
 * name##_x is the same with all 64 bits of x0. */
#define SVC(name, number)                                                                                              \
    static inline u64 name##_x(u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 *reply) {                           \
        register u64 x0 __asm__("x0") = a0;                                                                            \
        register u64 x1 __asm__("x1") = a1;                                                                            \
        register u64 x2 __asm__("x2") = a2;                                                                            \
        register u64 x3 __asm__("x3") = a3;                                                                            \
        register u64 x4 __asm__("x4") = a4;                                                                            \
        register u64 x5 __asm__("x5") = a5;                                                                            \
        __asm__ volatile("svc %6" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x5) : "i"(number)           \
                         : "memory", "cc", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",    \
                           "x17", "x18");                                                                              \
        if (reply) { reply[0] = x1; reply[1] = x2; reply[2] = x3; reply[3] = x4; }                                     \
        return x0;                                                                                                     \
    }                                                                                                                  \
    static inline u32 name(u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 *reply) {                               \
        return (u32)name##_x(a0, a1, a2, a3, a4, a5, reply);                                                           \
    }
SVC(svc_set_heap_size, 0x01)
SVC(svc_set_memory_permission, 0x02)
SVC(svc_set_memory_attribute, 0x03)
SVC(svc_map_memory, 0x04)
SVC(svc_unmap_memory, 0x05)
SVC(svc_query_memory, 0x06)
SVC(svc_exit_process, 0x07)
SVC(svc_create_thread, 0x08)
SVC(svc_start_thread, 0x09)
SVC(svc_exit_thread, 0x0A)
SVC(svc_sleep, 0x0B)
SVC(svc_get_thread_priority, 0x0C)
SVC(svc_set_thread_priority, 0x0D)
SVC(svc_get_thread_core_mask, 0x0E)
SVC(svc_set_thread_core_mask, 0x0F)
SVC(svc_get_current_processor, 0x10)
SVC(svc_signal_event, 0x11)
SVC(svc_clear_event, 0x12)
SVC(svc_map_shared_memory, 0x13)
SVC(svc_unmap_shared_memory, 0x14)
SVC(svc_create_transfer_memory, 0x15)
SVC(svc_close, 0x16)
SVC(svc_reset_signal, 0x17)
SVC(svc_wait, 0x18)
SVC(svc_cancel, 0x19)
SVC(svc_arbitrate_lock, 0x1A)
SVC(svc_arbitrate_unlock, 0x1B)
SVC(svc_wait_key, 0x1C)
SVC(svc_signal_key, 0x1D)
SVC(svc_tick, 0x1E)
SVC(svc_connect, 0x1F)
SVC(svc_send, 0x21)
SVC(svc_send_buffer, 0x22)
SVC(svc_get_process_id, 0x24)
SVC(svc_get_thread_id, 0x25)
SVC(svc_break, 0x26)
SVC(svc_print, 0x27)
SVC(svc_return_from_exception, 0x28)
SVC(svc_get_info, 0x29)
SVC(svc_map_physical, 0x2C)
SVC(svc_unmap_physical, 0x2D)
SVC(svc_set_thread_activity, 0x32)
SVC(svc_get_thread_context, 0x33)
SVC(svc_wait_address, 0x34)
SVC(svc_signal_address, 0x35)
SVC(svc_create_session, 0x40)
SVC(svc_accept_session, 0x41)
SVC(svc_reply_and_receive, 0x43)
SVC(svc_create_event, 0x45)
SVC(svc_create_code_memory, 0x4B)
SVC(svc_control_code_memory, 0x4C)
SVC(svc_create_shared_memory, 0x50)
SVC(svc_map_transfer_memory, 0x51)
SVC(svc_unmap_transfer_memory, 0x52)

/* Text for a debugger. */
void say(const char *text);
void say_number(const char *what, u64 value);              /* decimal */
void say_hex(const char *what, u64 value);
/* A result that is not 0 is told with its name, and ends the program. */
void check(u32 result, const char *what);

/* What the loader left: a value of an entry (see the enum), 0 if there is no such entry. */
enum { MAIN_THREAD = 1, NEXT_LOAD = 2, HEAP = 3, ARGUMENTS = 5, APPLET = 7, PROCESS = 10, RANDOM = 14, VERSION = 16 };
u64 entry_value(u32 key, u32 which);
const char *argument(u32 number);                          /* 0 is the program's own place; 0 if there is none */
int equal(const char *one, const char *other);
void leave(int result) __attribute__((noreturn));          /* to the loader, from anywhere */

/* Memory from the loader's heap, zeroed; never given back. align: a power of two. */
void *memory(u64 size, u64 align);

/* The thread's own 0x200 bytes; a message is at their start. */
static inline u32 *tls(void) {
    u32 *at;
    __asm__("mrs %0, tpidrro_el0" : "=r"(at));
    return at;
}
static inline u64 counter(void) {
    u64 value;
    __asm__ volatile("isb\nmrs %0, cntpct_el0" : "=r"(value));
    return value;
}
/* A thread that runs a function on a stack of its own, with 16 KiB; its handle. core -2: any. */
u32 thread_start(void (*function)(u64), u64 argument, u32 priority);
u32 wait_for(u32 handle, u64 nanoseconds);                 /* result of the wait for one object */
