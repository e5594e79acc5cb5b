#include "gpu.h"

static u32 gsp, event, client;
static volatile u8 *shared;
static u32 seen;
u32 gpu_counts[INTERRUPTS];
bool gpu_counting;

bool gpu_begin(void) {
    u32 reply[4], *m = message();
    if (!(gsp = service("gsp::Gpu"))) return false;
    m[1] = 0; m[2] = 0; m[3] = CURRENT_PROCESS;
    if (failed(ask(gsp, GSP_ACQUIRE_RIGHT))) return false;
    if (failed(svc_create_event(0, 0, 0, 0, 0, 0, reply))) return false;
    event = reply[0];
    m[1] = 1; m[2] = 0; m[3] = event;
    if (failed(ask(gsp, GSP_REGISTER_INTERRUPT_RELAY_QUEUE))) return false;
    client = m[2];
    if (client >= (0x1000 - GX_BASE) / GX_STRIDE) return false;
    shared = (volatile u8 *)map_shared(m[4], 0x1000, 3);
    if (!shared) return false;
    m[1] = 0;
    ask(gsp, GSP_SET_LCD_FORCE_BLACK);
    return true;
}
void gpu_end(void) {
    ask(gsp, GSP_UNREGISTER_INTERRUPT_RELAY_QUEUE);
    ask(gsp, GSP_RELEASE_RIGHT);
}

/* Words that gsp changes too. */
static u32 exclusive_load(volatile u32 *at) { u32 word; __asm__ volatile("ldrex %0, [%1]" : "=r"(word) : "r"(at) : "memory"); return word; }
static bool exclusive_store(volatile u32 *at, u32 word) {
    u32 lost;
    __asm__ volatile("strex %0, %1, [%2]" : "=&r"(lost) : "r"(word), "r"(at) : "memory");
    return !lost;
}
static void exclusive_end(void) { __asm__ volatile("clrex" : : : "memory"); }
static u32 part(u32 word, u32 number) { return word >> 8 * number & 255; }

/* -- interrupts ---------------------------------------------------------------------------------------------------- */
static void take(void) {
    volatile u8 *queue = shared + IRQ_BASE + IRQ_STRIDE * client;
    volatile u32 *head = (volatile u32 *)queue;
    for (;;) {
        u32 word = exclusive_load(head), index = part(word, IRQ_INDEX), count = part(word, IRQ_COUNT);
        if (!count || index >= IRQ_RING) { exclusive_end(); return; }
        u32 one = queue[IRQ_ENTRIES + index];
        u32 next = (word & ~0xFFFFu) | (count - 1) << 8 * IRQ_COUNT | (index + 1) % IRQ_RING;
        if (!exclusive_store(head, next) || one >= INTERRUPTS) continue;
        seen |= 1u << one;
        if (gpu_counting) gpu_counts[one]++;
    }
}
void gpu_begin_wait(u32 units) { take(); seen &= ~units; }
static const u32 CONTROL[INTERRUPTS] = {
    [INTERRUPT_PSC0] = PSC0_CONTROL, [INTERRUPT_PSC1] = PSC1_CONTROL, [INTERRUPT_PPF] = PPF_CONTROL};
static bool works(u32 unit) {
    u32 start = unit == INTERRUPT_PPF ? PPF_START_BIT : PSC0_START_BIT;
    return !CONTROL[unit] || gpu_read(CONTROL[unit]) & start;
}
u32 gpu_wait(u32 units, u32 milliseconds) {
    enum { QUIET = 50 };                                 /* so long after its end a unit may still report */
    u64 begin = ticks(), limit = (u64)milliseconds * TICKS_OF_SECOND / 1000, quiet = (u64)QUIET * TICKS_OF_SECOND / 1000;
    for (;;) {
        take();
        units &= ~seen;
        u64 passed = ticks() - begin;
        if (units && passed > quiet)
            for (u32 unit = 0; unit < INTERRUPTS; unit++)
                if (units >> unit & 1 && !works(unit)) units &= ~(1u << unit);
        if (!units || passed > limit) return units;
        wait_for(event, SECOND / 50);
    }
}
void gpu_next_picture(void) {
    enum { LONGEST = 100 };
    gpu_begin_wait(UNIT(PDC0) | UNIT(PDC1));
    gpu_wait(UNIT(PDC0) | UNIT(PDC1), LONGEST);
}

/* -- registers ------------------------------------------------------------------------------------------------------ */
u32 gpu_write(u32 address, u32 value) {
    u32 *m = message();
    m[1] = address - REGISTERS_FROM; m[2] = 4; m[3] = static_buffer(4, 0); m[4] = (u32)&value;
    return ask(gsp, GSP_WRITE_HW_REGS);
}
u32 gpu_write_part(u32 address, u32 value, u32 mask) {
    u32 *m = message();
    m[1] = address - REGISTERS_FROM; m[2] = 4; m[3] = static_buffer(4, 0); m[4] = (u32)&value;
    m[5] = static_buffer(4, 1); m[6] = (u32)&mask;
    return ask(gsp, GSP_WRITE_HW_REGS_WITH_MASK);
}
u32 gpu_read(u32 address) {
    volatile u32 value = 0;
    u32 *m = message();
    m[1] = address - REGISTERS_FROM; m[2] = 4;
    receives()[0] = static_buffer(4, 0); receives()[1] = (u32)&value;
    ask(gsp, GSP_READ_HW_REGS);
    return value;
}
u32 gpu_units_of_write(u32 address, u32 value) {
    if (address == PSC0_CONTROL && value & PSC0_START_BIT) return UNIT(PSC0);
    if (address == PSC1_CONTROL && value & PSC1_START_BIT) return UNIT(PSC1);
    if (address == PPF_CONTROL && value & PPF_START_BIT) return UNIT(PPF);
    if ((address == LIST_START0 || address == LIST_START1) && value & LIST_START_BIT) return UNIT(P3D);
    return 0;
}

/* -- commands ------------------------------------------------------------------------------------------------------- */
u32 gpu_units_of_command(const u32 words[8]) {
    switch (words[0] & 255) {
    case COMMAND_REQUEST_DMA: return UNIT(DMA);
    case COMMAND_PROCESS_COMMAND_LIST: return UNIT(P3D);
    case COMMAND_MEMORY_FILL: return (words[MEMORY_FILL_START0] ? UNIT(PSC0) : 0) | (words[MEMORY_FILL_START1] ? UNIT(PSC1) : 0);
    case COMMAND_DISPLAY_TRANSFER:
    case COMMAND_TEXTURE_COPY: return UNIT(PPF);
    }
    return 0;
}
u32 gpu_command(const u32 words[8]) {
    volatile u8 *queue = shared + GX_BASE + GX_STRIDE * client;
    volatile u32 *head = (volatile u32 *)queue;
    u32 word = exclusive_load(head), place = (part(word, GX_INDEX) + part(word, GX_COUNT)) % GX_RING;
    exclusive_end();
    volatile u32 *slot = (volatile u32 *)(queue + GX_SLOTS + GX_SLOT_BYTES * place);
    for (u32 n = 0; n < 8; n++) slot[n] = words[n];
    *(volatile u32 *)(queue + GX_ERROR) = 0;
    do {
        word = exclusive_load(head);
        word = (word & 0xFFFF) + (1u << 8 * GX_COUNT);   /* neither halted nor failed */
    } while (!exclusive_store(head, word));
    u32 result = ask(gsp, GSP_TRIGGER_CMD_REQ_QUEUE);
    if (failed(result)) return result;
    for (u32 n = 0; n < 100 && queue[GX_COUNT]; n++) sleep_for(SECOND / 1000);
    return *(volatile u32 *)(queue + GX_ERROR);
}
void gpu_reset(void) { ask(gsp, GSP_RESET_GPU_CORE); }

/* -- memory --------------------------------------------------------------------------------------------------------- */
static void cache(u32 header, u32 address, u32 size) {
    u32 *m = message();
    m[1] = address; m[2] = size; m[3] = 0; m[4] = CURRENT_PROCESS;
    ask(gsp, header);
}
void gpu_flush(u32 address, u32 size) { cache(GSP_FLUSH_DATA_CACHE, address, size); }
void gpu_invalidate(u32 address, u32 size) { cache(GSP_INVALIDATE_DATA_CACHE, address, size); }
static bool housekeeping(const u32 words[8]) { /* a command that is not the sent file's */
    enum { LONGEST = 2000 };
    bool counted = gpu_counting;
    u32 units = gpu_units_of_command(words);
    gpu_begin_wait(units);
    gpu_counting = false;
    bool done = !failed(gpu_command(words)) && !gpu_wait(units, LONGEST);
    gpu_counting = counted;
    return done;
}
bool gpu_copy(u32 from, u32 to, u32 size) {
    return housekeeping((u32[8]){COMMAND_REQUEST_DMA, [REQUEST_DMA_SOURCE] = from, [REQUEST_DMA_TARGET] = to, [REQUEST_DMA_SIZE] = size});
}
bool gpu_clear_video_memory(void) {
    enum { WORDS = 2 << 8 };                             /* values of 32 bits */
    return housekeeping((u32[8]){COMMAND_MEMORY_FILL, [MEMORY_FILL_START0] = VRAM_VIRTUAL,
                                 [MEMORY_FILL_END0] = VRAM_VIRTUAL + VRAM_BYTES, [MEMORY_FILL_CONTROL] = WORDS | PSC0_START_BIT});
}
static u32 next_entry(volatile u32 *head) {
    u32 word = exclusive_load(head);
    exclusive_end();
    return (part(word, FB_INDEX) ^ 1) & 1;
}
static volatile u8 *entries_of(u32 screen) { return shared + FB_BASE + FB_STRIDE * client + FB_SCREEN_STRIDE * screen; }
void gpu_show_entry(u32 screen, const u32 words[7]) {
    volatile u8 *info = entries_of(screen);
    volatile u32 *head = (volatile u32 *)info;
    u32 word, next = next_entry(head);
    volatile u32 *entry = (volatile u32 *)(info + (next ? FB_ENTRY1 : FB_ENTRY0));
    for (u32 n = 0; n < 7; n++) entry[n] = words[n];
    do word = exclusive_load(head);
    while (!exclusive_store(head, (word & ~0xFFFFu) | FB_NEW << 8 * FB_FLAG | next));
}
void gpu_show(u32 screen, u32 address, u32 stride, u32 format) {
    u32 next = next_entry((volatile u32 *)entries_of(screen));
    gpu_show_entry(screen, (u32[7]){next, address, address, stride, format, next, 0});
}
