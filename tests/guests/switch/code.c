/* Code that the program writes itself, in both ways that programs use, and again and again. */
#include "kernel_calls.h"

#define SIZE 0x2000
#define WRITTEN 0x4200000000ul
#define RUN 0x4300000000ul
enum { WRITABLE = 3, READABLE = 1, RUNS = 5, MAP_WRITTEN = 0, MAP_RUN, UNMAP_WRITTEN, UNMAP_RUN };
enum { MOV_W0 = 0x52800000, RET = 0xD65F03C0, ADD_W0 = 0x11000400, LOOP = 0x54FFFFE1, SUBS_W1 = 0x71000421 };
struct about { u64 base, size; u32 kind, use, permission, ipc, devices, zero; };
static u64 reply[4];
static u8 *heap;
static u32 process;

static void about(const char *what, u64 at) {
    struct about found;
    svc_query_memory((u64)&found, 0, at, 0, 0, 0, reply);
    say_hex(what, found.kind);
    say_hex("  use", found.use);
    say_hex("  permission", found.permission);
}
/* What programs do after they have written code: caches of data to memory, then the cache of instructions. */
static void written(u64 data, u64 code, u64 size) {
    for (u64 at = 0; at < size; at += 64) __asm__ volatile("dc cvau, %0" : : "r"(data + at) : "memory");
    __asm__ volatile("dsb ish" ::: "memory");
    for (u64 at = 0; at < size; at += 64) __asm__ volatile("ic ivau, %0" : : "r"(code + at) : "memory");
    __asm__ volatile("dsb ish\nisb" ::: "memory");
}
static void returns(u32 *at, u32 value) {
    at[0] = MOV_W0 | value << 5;
    at[1] = RET;
}
static u32 run(u64 at, u64 x0, u64 x1) { return ((u32 (*)(u64, u64))at)(x0, x1); }

static void code_memory(void) {
    heap = memory(SIZE, 0x1000);
    heap[5] = 1;
    say_hex("created", svc_create_code_memory(0, (u64)heap, SIZE, 0, 0, 0, reply));
    u32 code = (u32)reply[0];
    about("source kind", (u64)heap);
    say_hex("twice", svc_create_code_memory(0, (u64)heap, SIZE, 0, 0, 0, reply));
    say_hex("of code", svc_create_code_memory(0, (u64)code_memory & ~0xFFFul, 0x1000, 0, 0, 0, reply));
    say_hex("odd", svc_create_code_memory(0, (u64)heap, 0x123, 0, 0, 0, reply));
    say_hex("wrong size", svc_control_code_memory(code, MAP_WRITTEN, WRITTEN, 0x1000, WRITABLE, 0, 0));
    say_hex("wrong place", svc_control_code_memory(code, MAP_WRITTEN, (u64)heap, SIZE, WRITABLE, 0, 0));
    say_hex("wrong permission", svc_control_code_memory(code, MAP_WRITTEN, WRITTEN, SIZE, RUNS, 0, 0));
    say_hex("  to run", svc_control_code_memory(code, MAP_RUN, RUN, SIZE, 7, 0, 0));
    say_hex("wrong operation", svc_control_code_memory(code, 4, RUN, SIZE, 0, 0, 0));
    say_hex("mapped", svc_control_code_memory(code, MAP_WRITTEN, WRITTEN, SIZE, WRITABLE, 0, 0));
    say_hex("  to run", svc_control_code_memory(code, MAP_RUN, RUN, SIZE, RUNS, 0, 0));
    say_hex("  twice", svc_control_code_memory(code, MAP_RUN, RUN + SIZE, SIZE, RUNS, 0, 0));
    about("written kind", WRITTEN);
    about("run kind", RUN);
    say_hex("new bytes", *(u32 *)(WRITTEN + 0x1FFC));
    u32 *at = (u32 *)WRITTEN, right = 0;
    for (u32 n = 0; n < 100; n++) {                     /* each time other code at the same place */
        returns(at, n);
        written(WRITTEN, RUN, 64);
        right += run(RUN, 0, 0) == n;
    }
    say_number("right", right);
    returns(at, 7);
    written(WRITTEN, WRITTEN, 64);                      /* the cache goes by memory: any address of it will do */
    say_number("told by the other address", run(RUN, 0, 0));
    at[0x400] = ADD_W0; at[0x401] = SUBS_W1; at[0x402] = LOOP - (1 << 5); at[0x403] = RET;
    written(WRITTEN + 0x1000, RUN + 0x1000, 0x1000);
    say_number("a loop", run(RUN + 0x1000, 5, 1000));
    at[0x400] = ADD_W0 + (1 << 10);                     /* adds 2 */
    written(WRITTEN + 0x1000, RUN + 0x1000, 16);
    say_number("another", run(RUN + 0x1000, 5, 1000));
    say_number("and before", run(RUN, 0, 0));
    say_hex("unmap elsewhere", svc_control_code_memory(code, UNMAP_RUN, WRITTEN, SIZE, 0, 0, 0));
    say_hex("unmapped", svc_control_code_memory(code, UNMAP_WRITTEN, WRITTEN, SIZE, 0, 0, 0));
    say_number("still runs", run(RUN, 0, 0));
    say_hex("  no more", svc_control_code_memory(code, UNMAP_RUN, RUN, SIZE, 0, 0, 0));
    check(svc_close(code, 0, 0, 0, 0, 0, 0), "CloseHandle");
    about("source kind", (u64)heap);
    say_number("its bytes are the code", *(u32 *)heap == (MOV_W0 | 7 << 5));
}
static void from_heap(void) {
    u32 *at = (u32 *)heap;
    say_hex("no process", svc_map_process_code_memory(CURRENT_PROCESS, RUN, (u64)heap, SIZE, 0, 0, 0));
    u32 right = 0;
    for (u32 n = 0; n < 20; n++) {
        returns(at, 100 + n);
        check(svc_map_process_code_memory(process, RUN, (u64)heap, SIZE, 0, 0, 0), "MapProcessCodeMemory");
        check(svc_set_process_memory_permission(process, RUN, SIZE, RUNS, 0, 0, 0), "SetProcessMemoryPermission");
        right += run(RUN, 0, 0) == 100 + n;
        if (n < 19) check(svc_unmap_process_code_memory(process, RUN, (u64)heap, SIZE, 0, 0, 0), "UnmapProcessCodeMemory");
    }
    say_number("right", right);
    about("source kind", (u64)heap);
    about("code kind", RUN);
    say_hex("mapped twice", svc_map_process_code_memory(process, RUN + SIZE, (u64)heap, SIZE, 0, 0, 0));
    say_hex("all rights", svc_set_process_memory_permission(process, RUN, SIZE, 7, 0, 0, 0));
    say_hex("written where it runs", svc_map_process_memory(WRITTEN, process, RUN, SIZE, 0, 0, 0));
    returns((u32 *)WRITTEN, 77);
    written(WRITTEN, RUN, 64);
    say_number("  right", run(RUN, 0, 0));
    about("  kind", WRITTEN);
    say_hex("  away", svc_unmap_process_memory(WRITTEN, process, RUN, SIZE, 0, 0, 0));
    say_hex("  twice", svc_unmap_process_memory(WRITTEN, process, RUN, SIZE, 0, 0, 0));
    say_hex("as data", svc_set_process_memory_permission(process, RUN + 0x1000, 0x1000, WRITABLE, 0, 0, 0));
    about("  kind", RUN + 0x1000);
    say_hex("  no more code", svc_set_process_memory_permission(process, RUN + 0x1000, 0x1000, RUNS, 0, 0, 0));
    say_hex("of other memory", svc_unmap_process_code_memory(process, RUN, (u64)heap + SIZE, SIZE, 0, 0, 0));
    say_hex("unmapped", svc_unmap_process_code_memory(process, RUN, (u64)heap, SIZE, 0, 0, 0));
    say_hex("  twice", svc_unmap_process_code_memory(process, RUN, (u64)heap, SIZE, 0, 0, 0));
    struct about found;
    say_hex("asked", svc_query_process_memory((u64)&found, 0, process, (u64)heap, 0, 0, reply));
    say_hex("  kind", found.kind);
}
static void shared(void) {
    say_hex("shared", svc_create_shared_memory(0, 0x3000, WRITABLE, READABLE, 0, 0, reply));
    u32 block = (u32)reply[0];
    say_hex("  wrong permission", svc_create_shared_memory(0, 0x3000, RUNS, READABLE, 0, 0, reply));
    say_hex("  wrong size", svc_create_shared_memory(0, 0x3001, WRITABLE, READABLE, 0, 0, reply));
    say_hex("  too much", svc_create_shared_memory(0, 1ul << 32, WRITABLE, READABLE, 0, 0, reply));
    say_hex("mapped", svc_map_shared_memory(block, WRITTEN, 0x3000, WRITABLE, 0, 0, 0));
    say_hex("  for reading only", svc_map_shared_memory(block, RUN, 0x3000, READABLE, 0, 0, 0));
    say_hex("  again", svc_map_shared_memory(block, RUN, 0x3000, WRITABLE, 0, 0, 0));
    *(volatile u32 *)(WRITTEN + 0x2000) = 0x1234;
    say_hex("the same", *(volatile u32 *)(RUN + 0x2000));
    check(svc_close(block, 0, 0, 0, 0, 0, 0), "CloseHandle");
    say_hex("stays", *(volatile u32 *)(RUN + 0x2000));
    say_hex("no handle", svc_unmap_shared_memory(block, RUN, 0x3000, 0, 0, 0, 0));
}
int main(void) {
    process = (u32)entry_value(PROCESS, 0);
    code_memory(); from_heap(); shared();
    say("done\n");
    return 0;
}
