/* What is written back before the GPU or the display reads it, and what is forgotten: a step for each picture, which tells
 * its name when it is over. What is not of the flushes is that of scene.c. */
#define main main_of_scene
#include "scene.c"
#undef main

SVC(svc_flush_process, 0x5F)
enum { LINE = 64, UNCACHED = 8 };
static const char *step;

static void flush(const void *from, u64 size) {
    for (u64 at = (u64)from & -(u64)LINE; at < (u64)from + size; at += LINE)
        __asm__ volatile("dc civac, %0" :: "r"(at) : "memory");
    __asm__ volatile("dsb sy" ::: "memory");
}
/* More commands: 64 bytes are copied by the copy engine. */
enum { COPY_ENGINE = 4, SUBCHANNEL_SHIFT = 13, OFFSETS = 0x100, LAUNCH = 0xC0, PITCH_TO_PITCH = 0x182 };
static void copy_bytes(u64 from, u64 to) {
    method(COPY_ENGINE << SUBCHANNEL_SHIFT | OFFSETS, 8);
    *at++ = (u32)(from >> 32), *at++ = (u32)from, *at++ = (u32)(to >> 32), *at++ = (u32)to;
    *at++ = LINE, *at++ = LINE, *at++ = LINE, *at++ = 1;
    set(COPY_ENGINE << SUBCHANNEL_SHIFT | LAUNCH, PITCH_TO_PITCH);
}
/* Called when all of a picture but its flushes is done. */
static void forget(void) {
    u32 *texel = (u32 *)(data + TEXTURE) + 5, *commands = (u32 *)data;
    if (equal(step, "uncached")) return;
    if (equal(step, "the list")) {
        flush(data + LINE, DATA - LINE);
        return;
    }
    if (equal(step, "a copy")) copy_bytes(data_at + VERTICES + 0x800, data_at + VERTICES + 0x3000);
    flush(data, DATA);
    if (equal(step, "a copy")) data[VERTICES + 0x807] ^= 1;
    if (equal(step, "a texel")) *texel ^= 0x00FF0000;
    if (equal(step, "a vertex")) ((u8 *)(data + VERTICES))[2] ^= 0x80;
    if (equal(step, "same bytes")) *(volatile u32 *)commands = *(volatile u32 *)commands;
    if (equal(step, "a call")) {                            /* the kernel writes back, too */
        *texel ^= 0x00FF0000;
        check(svc_flush_process(CURRENT_PROCESS, (u64)texel, 4, 0, 0, 0, 0), "FlushProcessDataCache");
    }
}
static void show(const char *name, u32 number) {
    u32 slot;
    struct fences fences, mine = {1, {{syncpoint, fence + 1}}};
    step = name;
    check((u32)window_wait(&slot, &fences), "DEQUEUE");
    u8 *image = images + slot * IMAGE;
    if (equal(name, "uncached")) {
        flush(data, DATA);
        check(svc_set_memory_attribute((u64)data, DATA, UNCACHED, UNCACHED, 0, 0, 0), "SetMemoryAttribute");
    }
    draw(number, slot, &fences);
    check(wait_fence(syncpoint, fence, -1), "a fence");
    if (equal(name, "uncached")) check(svc_set_memory_attribute((u64)data, DATA, UNCACHED, 0, 0, 0, 0), "cached again");
    if (equal(name, "a picture") || equal(name, "a picture, flushed"))
        for (u32 n = 0; n < 32; n++) image[0x2000 + n] ^= 0xFF;
    if (equal(name, "a picture, flushed")) flush(image + 0x2000, 32);
    check((u32)window_show(slot, 1, 0, &mine), "QUEUE");
    say(name);
    say("\n");
}

int main(void) {
    static const char *const steps[] = {
        "all flushed", "a texel", "flushed later", "a vertex", "same bytes", "the list", "uncached", "a call", "a copy", "a picture",
        "a picture, flushed"};
    nv_start();
    open_all();
    make_memory();
    flush(code, 0x1000);
    window_open();
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {image_memory, n * IMAGE, WIDTH, HEIGHT, 4 * WIDTH, RGBA8, 4};
        window_set(n, &one);
    }
    before_kickoff = forget;
    for (u32 n = 0; n < sizeof steps / sizeof *steps; n++) show(steps[n], FRAMES * n);
    flush(memory(1 << 22, 0x1000), 1 << 22);                /* more lines than anything else has */
    check((u32)window_disconnect(), "DISCONNECT");
    window_close();
    return 0;
}
