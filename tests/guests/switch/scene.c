/* A textured triangle that the GPU draws: address space, channel, programs, a pushbuffer made here, two buffers, fences.
 * With the argument "hang": a pushbuffer that waits forever, and what the driver says of it. With a number: so many
 * pictures. */
#include "services.h"
#include "scene_data.h"

enum { FRAMES = 4, IMAGE = 4 * WIDTH * ROWS_OF_IMAGE, DATA = 0x20000, PADDING = 48, HOST_CHANNEL = 0, SYNCPOINT_SHIFT = 8 };
enum { RGBA8 = 1, GENERIC = 0xFE, COMPRESSED = 0xDB, FIXED = 1, CACHED = 4, MODIFY = 0x100, ERROR_EVENT = 3 };
/* Where things lie in the block of data. */
enum { COMMANDS = 0, VERTICES = 0x10000, TEXTURE = 0x11000, HEADERS = 0x12000, SAMPLERS = 0x12100, CONSTANTS = 0x12200,
       SEMAPHORE = 0x12300 };

static u32 space, channel, control, syncpoint, fence;
static u8 *data, *images, *code;
static u64 data_at, images_at, code_at;

static u32 *at;
static void method(u32 word, u32 count) { *at++ = 1u << 29 | count << 16 | word; }
static void set(u32 word, u32 value) { method(word, 1); *at++ = value; }
static void set_address(u32 word, u64 address) { method(word, 2); *at++ = (u32)(address >> 32); *at++ = (u32)address; }
static u32 bits(float value) { union { float f; u32 u; } one = {value}; return one.u; }

struct map { u32 flags, kind, handle, page_size; u64 buffer_offset, size, offset; };
static u64 map(u32 handle, u32 flags, u32 kind, u64 where) {
    struct map one = {flags, kind, handle, 0x10000, 0, 0, where};
    check(nv_control(space, NV_RW(0x4106, 0x28), &one), "MapBufferEx");
    return one.offset;
}

static void open_all(void) {
    struct { u64 length, address; u32 values[40]; } known = {160, 1, {0}};
    u32 gpu = nv_open("/dev/nvhost-ctrl-gpu");
    check(nv_control(gpu, NV_RW(0x4705, 0xB0), &known), "GetCharacteristics");
    say_hex("chip", known.values[0] << 8 | known.values[1]);
    say_hex("class", known.values[23]);
    u64 time[2] = {0, 0};
    check(nv_control(gpu, NV_RW(0x471C, 0x10), time), "GetGpuTime");
    say_number("time", time[0] / 1000000000);
    u32 slots[2];
    check(nv_control(gpu, NV_R(0x4714, 8), slots), "GetActiveSlotMask");
    say_number("slots", slots[0] + slots[1]);
    check(nv_close(gpu), "Close");
    control = nv_open("/dev/nvhost-ctrl");
    space = nv_open("/dev/nvhost-as-gpu");
    u32 initialize[10] = {1, 0, 0x10000};
    check(nv_control(space, NV_W(0x4109, 0x28), initialize), "InitializeEx");
    struct { u32 pages, page_size, flags, pad; u64 offset; } window = {0x10000, 0x10000, 0, 0, 0x10000};
    check(nv_control(space, NV_RW(0x4102, 0x18), &window), "AllocSpace");
    say_hex("window", window.offset);
    code_at = window.offset;
    channel = nv_open("/dev/nvhost-gpu");
    check(nv_control(channel, NV_W(0x4801, 4), &nv_map_device), "SetNvmapFd");
    check(nv_control(space, NV_W(0x4101, 4), &channel), "BindChannel");
    u32 fifo[8] = {0x800, 1};
    check(nv_control(channel, NV_RW(0x481A, 0x20), fifo), "AllocGpfifoEx2");
    syncpoint = fifo[3], fence = fifo[4];
    struct { u32 class_id, flags; u64 id; } object = {CLASS_3D};
    check(nv_control(channel, NV_RW(0x4809, 0x10), &object), "AllocObjCtx");
    u32 notifier[6] = {0, 0, 0, 0, 1, 0}, priority = 100;
    check(nv_control(channel, NV_RW(0x480C, 0x18), notifier), "SetErrorNotifier");
    check(nv_control(channel, NV_W(0x480D, 4), &priority), "SetPriority");
}

static void store(u8 *to, const u32 *words, u32 count) { for (u32 n = 0; n < count; n++) ((u32 *)to)[n] = words[n]; }
#define STORE(to, words) store(to, words, sizeof words / 4)

static u32 image_memory;
static void make_memory(void) {
    data = memory(DATA, 0x1000), images = memory(2 * IMAGE, 0x1000), code = memory(0x1000, 0x1000);
    data_at = map(nv_memory(data, DATA, 0), CACHED, 0, 0);
    image_memory = nv_memory(images, 2 * IMAGE, GENERIC);
    images_at = map(image_memory, CACHED, GENERIC, 0);
    struct map part = {MODIFY, COMPRESSED, 0, 0, IMAGE, IMAGE, images_at};
    check(nv_control(space, NV_RW(0x4106, 0x28), &part), "another kind");
    map(nv_memory(code, 0x1000, 0), FIXED | CACHED, 0, code_at);
    struct map again = {FIXED, 0, 1, 0x10000, 0, 0, code_at};
    say_number("taken", nv_control(space, NV_RW(0x4106, 0x28), &again));
    STORE(code, vertex_program);
    STORE(code + 0x400, pixel_program);
    STORE(data + HEADERS, texture_header);
    STORE(data + SAMPLERS, sampler);
    u64 texels = data_at + TEXTURE;
    ((u32 *)(data + HEADERS))[ADDRESS_LOW] |= (u32)texels;
    ((u32 *)(data + HEADERS))[ADDRESS_HIGH] |= (u32)(texels >> 32);
    for (u32 n = 0; n < TEXELS * TEXELS; n++)
        ((u32 *)(data + TEXTURE))[n] = (n / 4 + n / TEXELS / 4) % 2 ? 0xFF20C0FFu : 0xFFC04020u;
}

static void (*before_kickoff)(void);
static u32 kickoff(u32 *from, u32 increments, u32 *got) {
    if (before_kickoff) before_kickoff();
    u64 entry = (data_at + (u64)((u8 *)from - data)) | (u64)(at - from) << 42;
    struct { u64 address; u32 count, flags, fence[2]; } one = {0, 1, 4 | (increments ? 1u << 8 : 0), {0, increments}};
    u32 result = nv_control2(channel, NV_RW(0x481B, 0x18), &one, &entry, 8);
    got[0] = one.fence[0], got[1] = one.fence[1];
    return result;
}

/* Waits for a fence as libnx does: by an event if it is not reached. */
static u32 wait_fence(u32 id, u32 value, s32 microseconds) {
    static u32 event;
    u32 slot = 0, wait[4] = {id, value, (u32)microseconds, 0};
    if (!event) {
        check(nv_control(control, NV_RW(0x001F, 4), &slot), "EventRegister");
        event = nv_event(control, 0x10000000);
    }
    u32 error = nv_control(control, NV_RW(0x001E, 0x10), wait);
    if (error != 5) return error;
    u32 result = wait_for(event, microseconds < 0 ? FOREVER : (u64)microseconds * 1000);
    if (result) nv_control(control, NV_RW(0x001C, 4), &slot);
    return result;
}

/* All state of a draw but its vertices; the picture has one colour. */
static void set_up(u32 slot, float red, float green, float blue) {
    for (u32 n = 0; n < sizeof state / 4; n++) *at++ = state[n];
    set_address(SET_COLOR_TARGET_A, images_at + slot * IMAGE);
    method(SET_COLOR_TARGET_WIDTH, 2);
    *at++ = WIDTH, *at++ = HEIGHT;
    method(SET_COLOR_CLEAR_VALUE, 4);
    *at++ = bits(red), *at++ = bits(green), *at++ = bits(blue), *at++ = bits(1.0f);
    set(CLEAR_SURFACE, CLEAR_ALL);
    set_address(SET_PROGRAM_REGION_A, code_at);
    u32 vertex_stage = PIPELINE_STRIDE, pixel_stage = 5 * PIPELINE_STRIDE;
    set(SET_PIPELINE_SHADER + vertex_stage, VERTEX_ON);
    set(SET_PIPELINE_PROGRAM + vertex_stage, PADDING);
    set(SET_PIPELINE_REGISTER_COUNT + vertex_stage, 64);
    set(SET_PIPELINE_SHADER + pixel_stage, PIXEL_ON);
    set(SET_PIPELINE_PROGRAM + pixel_stage, 0x400 + PADDING);
    set(SET_PIPELINE_REGISTER_COUNT + pixel_stage, 64);
    method(SET_CONSTANT_BUFFER_SELECTOR_A, 3);
    *at++ = 256, *at++ = (u32)((data_at + CONSTANTS) >> 32), *at++ = (u32)(data_at + CONSTANTS);
    set(BIND_GROUP_CONSTANT_BUFFER, BIND_SLOT_0);
    set(BIND_GROUP_CONSTANT_BUFFER + 4 * GROUP_STRIDE, BIND_SLOT_0);
    method(SET_TEX_HEADER_POOL_A, 3);
    *at++ = (u32)((data_at + HEADERS) >> 32), *at++ = (u32)(data_at + HEADERS), *at++ = 0;
    method(SET_TEX_SAMPLER_POOL_A, 3);
    *at++ = (u32)((data_at + SAMPLERS) >> 32), *at++ = (u32)(data_at + SAMPLERS), *at++ = 0;
    set(SET_BINDLESS_TEXTURE, 0);
}

static void draw(u32 number, u32 slot, const struct fences *before) {
    static const float corners[3][2] = {{-0.8f, -0.8f}, {0.8f, -0.8f}, {0.0f, 0.8f}}, texels[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    float *vertex = (float *)(data + VERTICES);
    for (u32 n = 0; n < 3; n++, vertex += 6) {
        vertex[0] = corners[n][0] * (1.0f - 0.2f * (float)(number % FRAMES)), vertex[1] = corners[n][1];
        vertex[2] = 0, vertex[3] = 1;
        vertex[4] = texels[n][0], vertex[5] = texels[n][1];
    }
    u32 *start = at = (u32 *)(data + COMMANDS + 0x1000 * (number % FRAMES));
    for (u32 n = 0; n < before->count; n++) {
        set(HOST_SYNCPOINTA, before->pairs[n][1]);
        set(HOST_SYNCPOINTB, WAIT_SYNCPOINT | before->pairs[n][0] << SYNCPOINT_SHIFT);
    }
    set(HOST_SET_OBJECT, CLASS_3D);
    set_up(slot, 0.25f * (float)(number % FRAMES), 0.5f, 0.25f);
    set_address(SET_VERTEX_STREAM_A_LOCATION_A, data_at + VERTICES);
    set_address(SET_VERTEX_STREAM_LIMIT_A_A, data_at + VERTICES + 3 * 24 - 1);
    set(SET_VERTEX_ARRAY_START, 0);
    set(BEGIN, TRIANGLES);
    set(DRAW_VERTEX_ARRAY, 3);
    set(END, 0);
    method(SET_REPORT_SEMAPHORE_A, 4);
    *at++ = (u32)((data_at + SEMAPHORE) >> 32), *at++ = (u32)(data_at + SEMAPHORE), *at++ = number + 1, *at++ = RELEASE;
    set(HOST_SYNCPOINTB, INCREMENT | syncpoint << SYNCPOINT_SHIFT);
    u32 got[2];
    check(kickoff(start, 1, got), "KickoffPb");
    fence++;
    if (got[0] != syncpoint || got[1] != fence) say_number("another fence", got[1]);
}

static void hang(void) {
    u32 *start = at = (u32 *)(data + COMMANDS), got[2], event = nv_event(channel, ERROR_EVENT);
    method(HOST_SEMAPHOREA, 4);
    *at++ = (u32)((data_at + SEMAPHORE) >> 32), *at++ = (u32)(data_at + SEMAPHORE), *at++ = 1234, *at++ = ACQUIRE;
    set(HOST_SYNCPOINTB, INCREMENT | syncpoint << SYNCPOINT_SHIFT);
    check(kickoff(start, 1, got), "KickoffPb");
    say_hex("soon", wait_fence(got[0], got[1], 1000));
    *(volatile u32 *)(data + SEMAPHORE) = 1234;             /* this lets it go on */
    say_hex("released", wait_fence(got[0], got[1], 100000));
    *(volatile u32 *)(data + SEMAPHORE) = 0;
    check(kickoff(start, 1, got), "KickoffPb");
    say_hex("silent", wait_for(event, 1000000));
    say_hex("notified", wait_for(event, 10000000000ul));
    struct { u64 time; u32 info; u16 code, status; } error;
    check(nv_control(channel, NV_R(0x4817, 0x10), &error), "GetErrorNotification");
    say_hex("status", error.status);
    say_number("code", error.code);
    say_hex("fence", wait_fence(got[0], got[1], 1000));
}

static u32 number_of(const char *text) {
    u32 value = 0;
    for (; *text; text++) value = 10 * value + (u32)(*text - '0');
    return value;
}

static void close_all(void) {
    check(nv_close(channel), "Close");
    u64 address = images_at;
    check(nv_control(space, NV_RW(0x4105, 8), &address), "UnmapBuffer");
    say_number("gone", nv_control(space, NV_RW(0x4105, 8), &address));
    struct { u64 offset; u32 pages, page_size; } window = {code_at, 0x10000, 0x10000};
    check(nv_control(space, NV_RW(0x4103, 0x10), &window), "FreeSpace");
    check(nv_close(space), "Close");
    check(nv_close(control), "Close");
    check(nv_close(nv_map_device), "Close");
    say_number("closed", nv_close(nv_map_device));
}

int main(void) {
    nv_start();
    open_all();
    make_memory();
    if (argument(1) && equal(argument(1), "hang")) {
        hang();
        close_all();
        return 0;
    }
    window_open();
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {image_memory, n * IMAGE, WIDTH, HEIGHT, 4 * WIDTH, RGBA8, 4};
        window_set(n, &one);
    }
    volatile u32 *semaphore = (volatile u32 *)(data + SEMAPHORE);
    u32 count = argument(1) ? number_of(argument(1)) : FRAMES;
    for (u32 n = 0; n < count; n++) {
        u32 slot;
        struct fences fences, mine = {1, {{syncpoint, fence + 1}}};
        check((u32)window_wait(&slot, &fences), "DEQUEUE");
        draw(n, slot, &fences);
        check((u32)window_show(slot, 1, 0, &mine), "QUEUE");
        check(wait_fence(syncpoint, fence, -1), "a fence");
        if (*semaphore != n + 1) say_number("semaphore", *semaphore);
    }
    u32 read[2] = {syncpoint, 0};
    check(nv_control(control, NV_RW(0x0014, 8), read), "SyncptRead");
    say_number("counted", read[1]);
    check((u32)window_disconnect(), "DISCONNECT");
    window_close();
    close_all();
    say("done\n");
    return 0;
}
