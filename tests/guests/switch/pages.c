/* Memory: the heap, permissions, what pages are used for, aliases, what is lent, and questions about all of it. */
#include "runtime.h"

struct info { u64 base, size; u32 kind, use, permission, a, b, c; };
static struct info at(u64 address) {
    struct info one;
    check(svc_query_memory((u64)&one, 0, address, 0, 0, 0, 0), "QueryMemory");
    return one;
}
static void tell(const char *what, u64 address) {
    struct info one = at(address);
    say(what);
    say_hex(" kind", one.kind);
    say_hex("  use", one.use);
    say_hex("  permission", one.permission);
}
static u8 data[0x3000] __attribute__((aligned(0x1000)));

static void walk(void) {
    u64 address = 0, regions = 0;
    struct info one;
    do {
        one = at(address);
        if (one.base != address || one.size & 0xFFF) say("wrong region\n");
        address = one.base + one.size;
        regions++;
    } while (address && regions < 1000);
    say_number("ends at the last address", address == 0);
    say_number("few regions", regions > 5 && regions < 40);
    say_hex("beyond", one.kind);
    say_hex("  from", one.base);
}
static void permissions(void) {
    tell("code", (u64)&walk); tell("data", (u64)data); tell("heap", entry_value(HEAP, 0)); tell("TLS", (u64)tls());
    struct info stack = at((u64)&stack);
    say_hex("stack", stack.kind);
    say_hex("read only", svc_set_memory_permission((u64)data + 0x1000, 0x1000, 1, 0, 0, 0, 0));
    tell("then", (u64)data + 0x1000);
    say_number("alone", at((u64)data + 0x1000).size == 0x1000);
    say_hex("again", svc_set_memory_permission((u64)data + 0x1000, 0x1000, 3, 0, 0, 0, 0));
    say_number("joined", at((u64)data).size >= 0x3000);
    say_hex("executable", svc_set_memory_permission((u64)data, 0x1000, 5, 0, 0, 0, 0));
    say_hex("of code", svc_set_memory_permission((u64)&walk & ~0xFFFul, 0x1000, 1, 0, 0, 0, 0));
    say_hex("misaligned", svc_set_memory_permission((u64)data + 1, 0x1000, 1, 0, 0, 0, 0));
    say_hex("no size", svc_set_memory_permission((u64)data, 0, 1, 0, 0, 0, 0));
    say_hex("no memory", svc_set_memory_permission(0x1000, 0x1000, 1, 0, 0, 0, 0));
    say_hex("uncached", svc_set_memory_attribute((u64)data, 0x1000, 8, 8, 0, 0, 0));
    tell("then", (u64)data);
    say_hex("cached", svc_set_memory_attribute((u64)data, 0x1000, 8, 0, 0, 0, 0));
    say_hex("no such use", svc_set_memory_attribute((u64)data, 0x1000, 2, 2, 0, 0, 0));
    say_hex("fixed", svc_set_memory_attribute((u64)data + 0x2000, 0x1000, 0x10, 0x10, 0, 0, 0));
    say_hex("  no more", svc_set_memory_permission((u64)data + 0x2000, 0x1000, 1, 0, 0, 0, 0));
}
static void aliases(void) {
    u64 source = (u64)memory(0x4000, 0x1000), place, reply[4];
    check(svc_get_info(0, 14, CURRENT_PROCESS, 0, 0, 0, reply), "GetInfo");
    place = reply[0] + 0x10000000;
    *(volatile u32 *)source = 1234;
    say_hex("mapped", svc_map_memory(place, source, 0x4000, 0, 0, 0, 0));
    say_number("the same", *(volatile u32 *)place);
    tell("alias", place); tell("source", source);
    say_hex("taken", svc_map_memory(place, source, 0x4000, 0, 0, 0, 0));
    say_hex("lent already", svc_map_memory(place + 0x10000, source, 0x4000, 0, 0, 0, 0));
    say_hex("no place for it", svc_map_memory(0x1000000, source, 0x4000, 0, 0, 0, 0));
    say_hex("no source", svc_map_memory(place + 0x10000, 0x1000, 0x1000, 0, 0, 0, 0));
    say_hex("of other memory", svc_unmap_memory(place, source + 0x1000, 0x1000, 0, 0, 0, 0));
    *(volatile u32 *)(place + 0x3000) = 77;
    say_hex("a part", svc_unmap_memory(place + 0x3000, source + 0x3000, 0x1000, 0, 0, 0, 0));
    say_number("the same", *(volatile u32 *)(source + 0x3000));
    say_hex("the rest", svc_unmap_memory(place, source, 0x3000, 0, 0, 0, 0));
    say_hex("twice", svc_unmap_memory(place, source, 0x3000, 0, 0, 0, 0));
    tell("source", source);
    say_hex("lent", svc_create_transfer_memory(0, source, 0x4000, 0, 0, 0, reply));
    u32 block = (u32)reply[0];
    tell("to a service", source);
    say_hex("twice", svc_create_transfer_memory(0, source, 0x1000, 0, 0, 0, reply));
    svc_close(block, 0, 0, 0, 0, 0, 0);
    tell("back", source);
    say_number("kept", *(volatile u32 *)source);
    svc_create_transfer_memory(0, source, 0x1000, 3, 0, 0, reply);
    place = 0x4100000000;
    say_hex("a block", svc_map_transfer_memory(reply[0], place, 0x1000, 3, 0, 0, 0));
    say_number("the same", *(volatile u32 *)place);
    say_hex("wrong size", svc_unmap_transfer_memory(reply[0], place, 0x2000, 0, 0, 0, 0));
    say_hex("gone", svc_unmap_transfer_memory(reply[0], place, 0x1000, 0, 0, 0, 0));
    say_hex("no shared memory", svc_map_shared_memory(reply[0], place, 0x1000, 3, 0, 0, 0));
}
static void heap(void) {
    u64 reply[4], size = 0;
    check(svc_get_info(0, 7, CURRENT_PROCESS, 0, 0, 0, reply), "GetInfo");
    u64 used = reply[0], given = entry_value(HEAP, 1);
    say_hex("more", svc_set_heap_size(0, given + 0x400000, 0, 0, 0, 0, reply));
    say_number("  there", reply[0] == entry_value(HEAP, 0));
    volatile u32 *end = (u32 *)(entry_value(HEAP, 0) + given);
    say_number("  zero", end[0] == 0);
    end[0] = 5;
    svc_get_info(0, 7, CURRENT_PROCESS, 0, 0, 0, reply);
    say_number("  used", reply[0] - used == 0x400000);
    say_hex("less", svc_set_heap_size(0, given, 0, 0, 0, 0, reply));
    say_hex("  gone", at((u64)end).kind);
    say_hex("more", svc_set_heap_size(0, given + 0x200000, 0, 0, 0, 0, reply));
    say_number("  zero again", end[0] == 0);
    say_hex("odd", svc_set_heap_size(0, 0x1000, 0, 0, 0, 0, reply));
    say_hex("too much", svc_set_heap_size(0, 0x100000000, 0, 0, 0, 0, reply));
    for (size = given; size < given + 0x40000000; size += 0x200000)
        if (svc_set_heap_size(0, size, 0, 0, 0, 0, reply)) break;
    say_number("all of it", size > given && size < given + 0x40000000);
    check(svc_set_heap_size(0, given, 0, 0, 0, 0, reply), "SetHeapSize");
}
int main(void) {
    walk(); permissions(); aliases(); heap();
    say("done\n");
    return 0;
}
