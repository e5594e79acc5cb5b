#include "gpu.h"

enum { RING = 0x800, PRIORITY = 100, NOT_CACHED = 8, CACHE_LINE = 64, CACHEABLE = 4, HARDWARE_FORM = 4 };
enum { NV_OPEN = 0, NV_IOCTL = 1, NV_CLOSE = 2, NV_INITIALIZE = 3, NV_IOCTL2 = 11 };
char gpu_why[160];
static u32 nv, nvmap, host, space, transfer_handle;
static u8 *transfer_memory;
static u32 *commands;
static u64 commands_at;
static struct object command_object;

static int failed(const char *what, u32 result) {
    if (result) {
        struct text text = {gpu_why, sizeof gpu_why, 0};
        put(&text, "the system refused ");
        put(&text, what);
        put(&text, " with ");
        put_hex(&text, result, 1);
    }
    return result != 0;
}

static u32 open_device(const char *path, u32 *device) {
    u32 size = 0;
    while (path[size]) size++;
    struct message one = {.command = NV_OPEN, .plain = 1, .ins = 1, .in = {path}, .in_size = {size}};
    u32 result = request(nv, &one);
    *device = result ? 0 : one.values[0];
    return result ? result : one.values[1];
}
static u32 close_device(u32 device) {
    u32 error = 0, result = ask(nv, NV_CLOSE, &device, sizeof device, &error, sizeof error);
    return result ? result : error;
}
static u32 control(u32 device, u32 word, void *data, const void *more, u32 more_size) {
    u32 size = word >> 16 & 0x3FFF, arguments[2] = {device, word};
    struct message one = {
        .command = more ? NV_IOCTL2 : NV_IOCTL, .arguments = arguments, .size = sizeof arguments, .ins = 1 + (more != 0),
        .outs = 1, .in = {word >> 30 & 1 ? data : 0, more}, .in_size = {word >> 30 & 1 ? size : 0, more_size},
        .out = {word >> 31 ? data : 0}, .out_size = {word >> 31 ? size : 0}};
    u32 result = request(nv, &one);
    return result ? result : one.values[0];
}

bool gpu_is_application(void) {
    enum { APPLICATION = 0, SYSTEM_APPLICATION = 4 };
    u64 kind = entry_value(ENTRY_APPLET, 0);
    return kind == APPLICATION || kind == SYSTEM_APPLICATION;
}
int gpu_open(void *transfer, u32 size) {
    u64 reply;
    if (failed("nvdrv", find_service(gpu_is_application() ? "nvdrv" : "nvdrv:a", &nv))) return 1;
    if (failed("memory for nvdrv", svc_create_transfer_memory(0, (u64)transfer, size, 0, &reply))) return 1;
    transfer_memory = transfer;
    transfer_handle = (u32)reply;
    struct message one = {
        .command = NV_INITIALIZE, .arguments = &size, .size = sizeof size, .copies = 2,
        .copy = {CURRENT_PROCESS, (u32)reply}};
    u32 result = request(nv, &one);
    if (failed("the start of nvdrv", result ? result : one.values[0])) return 1;
    return failed("nvmap", open_device("/dev/nvmap", &nvmap)) || failed("nvhost-ctrl", open_device("/dev/nvhost-ctrl", &host));
}

int gpu_begin(void *page) {
    struct InitializeEx start = {.flags = 1, .big_page_size = BIG_PAGE};
    if (failed("an address space", open_device("/dev/nvhost-as-gpu", &space))) { space = 0; return 1; }
    if (failed("its start", control(space, NV_InitializeEx, &start, 0, 0))) return 1;
    commands = page, commands_at = 0;
    command_object = (struct object){page, OBJECT_STEP, 0};
    return gpu_object(&command_object);
}
int gpu_reserve(u64 address, u64 size, u32 page) {
    struct AllocSpace one = {.pages = (u32)(size / page), .page_size = page, .flags = NV_FIXED, .offset = address};
    if (failed("the addresses of the file", control(space, NV_AllocSpace, &one, 0, 0))) return 1;
    if (one.offset == address) return 0;
    struct text text = {gpu_why, sizeof gpu_why, 0};
    put(&text, "the system gave other addresses, from ");
    put_hex(&text, one.offset, 1);
    return 1;
}

static void forget_cached(u8 *at, u64 size) {
    for (u64 n = 0; n < size; n += CACHE_LINE) __asm__ volatile("dc civac, %0" : : "r"(at + n) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}
int gpu_object(struct object *one) {
    struct Create create = {.size = (u32)one->size};
    zero(one->at, one->size);
    forget_cached(one->at, one->size);
    if (failed("an nvmap object", control(nvmap, NV_Create, &create, 0, 0))) return 1;
    one->handle = create.handle;
    struct Alloc alloc = {.handle = one->handle, .align = BIG_PAGE, .address = (u64)one->at};
    if (failed("memory for an nvmap object", control(nvmap, NV_Alloc, &alloc, 0, 0))) return 1;
    return failed("memory that is not cached",
                  svc_set_memory_attribute((u64)one->at, one->size, NOT_CACHED, NOT_CACHED, 0));
}
int gpu_id(const struct object *one, u32 *id) {
    struct GetId get = {.handle = one->handle};
    if (failed("the number of an object", control(nvmap, NV_GetId, &get, 0, 0))) return 1;
    *id = get.id;
    return 0;
}
static int map_object(const struct object *one, u32 flags, u64 offset, u64 size, u32 kind, u32 page, u64 *address) {
    struct MapBufferEx map = {
        .flags = flags, .kind = kind, .handle = one->handle, .page_size = page, .buffer_offset = offset, .size = size,
        .offset = *address};
    if (failed("a mapping", control(space, NV_MapBufferEx, &map, 0, 0))) return 1;
    *address = map.offset;
    return 0;
}
int gpu_map(const struct object *one, u64 offset, u64 size, u32 kind, u32 page, u64 address) {
    u64 got = address;
    if (map_object(one, NV_FIXED | CACHEABLE, offset, size, kind, page, &got)) return 1;
    if (got == address) return 0;
    struct text text = {gpu_why, sizeof gpu_why, 0};
    put(&text, "the system mapped memory elsewhere, at ");
    put_hex(&text, got, 1);
    return 1;
}
int gpu_unmap(u64 address) {
    struct UnmapBuffer one = {.offset = address};
    return failed("to take a mapping away", control(space, NV_UnmapBuffer, &one, 0, 0));
}
int gpu_release(struct object *one) {
    if (!one->handle) return 0;
    struct Free back = {.handle = one->handle};
    one->handle = 0;
    int wrong = failed("to take memory back", control(nvmap, NV_Free, &back, 0, 0));
    svc_set_memory_attribute((u64)one->at, one->size, NOT_CACHED, 0, 0);
    return wrong;
}

int gpu_channel(struct channel *one) {
    if (!commands_at && map_object(&command_object, CACHEABLE, 0, OBJECT_STEP, 0, BIG_PAGE, &commands_at)) return 1;
    if (failed("a channel", open_device("/dev/nvhost-gpu", &one->device))) { one->device = 0; return 1; }
    struct SetNvmapFd fd = {.fd = nvmap};
    struct BindChannel bind = {.channel = one->device};
    struct AllocGpfifoEx2 ring = {.entries = RING, .jobs = 1};
    struct AllocObjCtx object = {.class_ = CLASS_3D};
    struct SetErrorNotifier notifier = {.on = 1};
    struct SetPriority priority = {.priority = PRIORITY};
    if (failed("nvmap for a channel", control(one->device, NV_SetNvmapFd, &fd, 0, 0))) return 1;
    if (failed("addresses for a channel", control(space, NV_BindChannel, &bind, 0, 0))) return 1;
    if (failed("a channel's ring", control(one->device, NV_AllocGpfifoEx2, &ring, 0, 0))) return 1;
    if (failed("a channel's engines", control(one->device, NV_AllocObjCtx, &object, 0, 0))) return 1;
    if (failed("a channel's notifier", control(one->device, NV_SetErrorNotifier, &notifier, 0, 0))) return 1;
    if (failed("a channel's priority", control(one->device, NV_SetPriority, &priority, 0, 0))) return 1;
    one->syncpoint = ring.syncpoint, one->fence = ring.value, one->waits = 0;
    return 0;
}
static u64 entry_of(u32 first, u32 count) {
    return (commands_at + 4 * first) | (u64)count << ENTRY_LENGTH_SHIFT | ENTRY_SUBROUTINE;
}
/* Words of our own around the entries of the file. Before them the GPU forgets what its cache has of memory, as the
 * processor has written there. After them it waits until the engines are idle, writes its cache to memory, and counts. */
static void put_words(const struct channel *one, u64 *before, u64 *after) {
    enum { WORDS_BEFORE = 2, WORDS_AFTER = 8, WORDS = 16 };
    static const u32 header = METHODS | 1u << METHOD_COUNT_SHIFT;
    u32 first = one->syncpoint * WORDS, *words = commands + first;
    words[0] = header | HOST_MEM_OP_B, words[1] = L2_SYSMEM_INVALIDATE;
    words[2] = header | HOST_WFI, words[3] = 0;
    words[4] = header | HOST_MEM_OP_B, words[5] = L2_FLUSH_DIRTY;
    words[6] = header | HOST_SYNCPOINTA, words[7] = 0;
    words[8] = header | HOST_SYNCPOINTB, words[9] = HOST_INCREMENT | one->syncpoint << HOST_INDEX_SHIFT;
    __asm__ volatile("dsb sy" : : : "memory");
    *before = entry_of(first, WORDS_BEFORE);
    *after = entry_of(first + WORDS_BEFORE, WORDS_AFTER);
}
int gpu_submit(struct channel *one, const u8 *entries, u32 count) {
    static u64 sent[MOST_ENTRIES + 2];
    memcpy(sent + 1, entries, 8ul * count);
    put_words(one, sent, sent + 1 + count);
    struct KickoffPb kick = {.entries = count + 2, .flags = HARDWARE_FORM | NV_INCREMENTS, .value = 1};
    if (failed("a submission", control(one->device, NV_KickoffPb, &kick, sent, 8 * (count + 2)))) return 1;
    one->fence = kick.value;
    return 0;
}
int gpu_value(u32 syncpoint, u32 *value) {
    struct SyncptRead one = {.id = syncpoint};
    int wrong = failed("the value of a syncpoint", control(host, NV_SyncptRead, &one, 0, 0));
    *value = one.value;
    return wrong;
}
int gpu_reached(const struct channel *one) {
    u32 value;
    return !gpu_value(one->syncpoint, &value) && (s32)(value - one->fence) >= 0;
}
u32 gpu_error(const struct channel *one) {
    struct GetErrorNotification error = {0};
    u32 result = control(one->device, NV_GetErrorNotification, &error, 0, 0);
    return result || !error.status ? 0 : error.code;
}
void gpu_close(struct channel *one) {
    if (one->device) close_device(one->device);
    one->device = 0;
}
void gpu_end(void) {
    if (space && commands_at) gpu_unmap(commands_at);
    if (space) close_device(space);
    space = 0;
    gpu_release(&command_object);
}
void gpu_quit(void) {
    if (host) close_device(host);
    if (nvmap) close_device(nvmap);
    if (nv) close_session(nv);
    if (transfer_handle) {
        svc_close(transfer_handle, 0, 0, 0, 0);
        wait_for_memory(transfer_memory);
    }
}
