/* The supervisor calls, for guest programs of the tests. Numbers and registers: facts/n3ds/supervisor_calls.tsv. */
#pragma once
typedef unsigned int u32;
typedef signed int s32;
typedef unsigned long long u64;
typedef signed long long s64;
typedef unsigned short u16;
typedef unsigned char u8;

void start(void) __attribute__((naked, section(".start")));
int main(void);

static inline void svc_exit(void) { __asm__ volatile("svc 0x03"); }
static inline void svc_print(const char *text, u32 size) {
    register u32 r0 __asm__("r0") = (u32)text; register u32 r1 __asm__("r1") = size;
    __asm__ volatile("svc 0x3d" : "+r"(r0), "+r"(r1) :: "r2", "r3", "r12", "memory");
}
static inline u64 svc_tick(void) {
    register u32 r0 __asm__("r0"); register u32 r1 __asm__("r1");
    __asm__ volatile("svc 0x28" : "=r"(r0), "=r"(r1) :: "r2", "r3", "r12", "memory");
    return r0 | (u64)r1 << 32;
}
static inline void svc_sleep(s64 ns) {
    register u32 r0 __asm__("r0") = (u32)ns; register u32 r1 __asm__("r1") = (u32)(ns >> 32);
    __asm__ volatile("svc 0x0a" : "+r"(r0), "+r"(r1) :: "r2", "r3", "r12", "memory");
}
