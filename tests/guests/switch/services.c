#include "services.h"

enum { REQUEST = 4, CLOSE = 2, SFCI = 0x49434653, SFCO = 0x4F434653 };

static void copy(void *to, const void *from, u64 size) {
    for (u64 n = 0; n < size; n++) ((u8 *)to)[n] = ((const u8 *)from)[n];
}
static void clear(void *to, u64 size) {
    for (u64 n = 0; n < size; n++) ((volatile u8 *)to)[n] = 0;
}
static u32 up(u32 size, u32 unit) { return (size + unit - 1) / unit * unit; }
static u32 *buffer(u32 *at, const void *data, u64 size) {
    u64 address = (u64)data;
    at[0] = (u32)size;
    at[1] = (u32)address;
    at[2] = (u32)(address >> 36 & 0x3FFFFF) << 2 | (u32)(size >> 32 & 15) << 24 | (u32)(address >> 32 & 15) << 28;
    return at + 3;
}

u32 request(u32 session, struct message *one) {
    u32 *message = tls(), *at = message + 2;
    u32 statics = one->plain ? 0 : one->ins, receives = one->plain ? 0 : one->outs, ins = one->pointers ? 0 : one->ins;
    u32 special = one->pid || one->copies, sizes = up(2 * receives, 4);
    u32 words = (16 + 16 + one->size + sizes + 3) / 4;
    message[0] = REQUEST | statics << 16 | ins << 20 | one->outs << 24;
    message[1] = words | (receives ? receives + 2 : 0) << 10 | special << 31;
    if (special) {
        *at++ = one->pid | one->copies << 1;
        if (one->pid) *at++ = 0, *at++ = 0;
        for (u32 n = 0; n < one->copies; n++) *at++ = one->copy[n];
    }
    for (u32 n = 0; n < statics; n++) {
        u64 address = one->pointers ? (u64)one->in[n] : 0, length = one->pointers ? one->in_size[n] : 0;
        *at++ = n | (u32)(address >> 36 & 7) << 6 | (u32)(address >> 32 & 15) << 12 | (u32)length << 16;
        *at++ = (u32)address;
    }
    for (u32 n = 0; n < ins; n++) at = buffer(at, one->in[n], one->in_size[n]);
    for (u32 n = 0; n < one->outs; n++) at = buffer(at, one->out[n], one->out_size[n]);
    u32 *end = at + words, *data = (u32 *)((u64)(at + 3) & ~15ul);
    while (at < end) *at++ = 0;
    for (u32 n = 0; n < receives; n++) *at++ = 0, *at++ = 0;
    data[0] = SFCI;
    data[1] = 0;
    data[2] = one->command;
    data[3] = 0;
    copy(data + 4, one->arguments, one->size);
    u32 result = svc_send(session, 0, 0, 0, 0, 0, 0);
    if (result) return result;
    at = message + 2;
    one->handles = 0;
    if (message[1] >> 31) {
        u32 head = *at++;
        if (head & 1) at += 2;
        u32 count = (head >> 1 & 15) + (head >> 5 & 15);
        for (u32 n = 0; n < count; n++, at++)
            if (n < 4) one->handle[one->handles++] = *at;
    }
    data = (u32 *)((u64)(at + 3) & ~15ul);
    if (data[0] != SFCO) return 0xFFFFFFFF;
    one->values = data + 4;
    return data[2];
}

u32 ask(u32 session, u32 command, const void *arguments, u32 size, void *values, u32 values_size) {
    struct message one = {.command = command, .arguments = arguments, .size = size};
    u32 result = request(session, &one);
    if (!result) copy(values, one.values, values_size);
    return result;
}
u32 ask_object(u32 session, u32 command, const void *arguments, u32 size) {
    struct message one = {.command = command, .arguments = arguments, .size = size};
    check(request(session, &one), "a service's object");
    return one.handle[0];
}
void close_session(u32 session) {
    u32 *message = tls();
    message[0] = CLOSE;
    message[1] = 0;
    svc_send(session, 0, 0, 0, 0, 0, 0);
    check(svc_close(session, 0, 0, 0, 0, 0, 0), "CloseHandle of a session");
}

static u32 manager;
u32 find_service(const char *name, u32 *session) {
    if (!manager) {
        u64 reply[4];
        check(svc_connect(0, (u64)"sm:", 0, 0, 0, 0, reply), "sm:");
        manager = (u32)reply[0];
        u64 zero = 0;
        struct message one = {.command = 0, .arguments = &zero, .size = 8, .pid = 1};
        check(request(manager, &one), "RegisterClient");
    }
    u8 text[8] = {0};
    for (u32 n = 0; n < 8 && name[n]; n++) text[n] = (u8)name[n];
    struct message one = {.command = 1, .arguments = text, .size = 8};
    u32 result = request(manager, &one);
    *session = one.handles ? one.handle[0] : 0;
    return result;
}
u32 service(const char *name) {
    u32 session;
    check(find_service(name, &session), name);
    return session;
}

/* nvdrv */
static u32 nv;
u32 nv_map_device;
void nv_start(void) {
    enum { TRANSFER = 0x100000 };
    nv = service("nvdrv");
    u64 reply[4];
    check(svc_create_transfer_memory(0, (u64)memory(TRANSFER, 0x1000), TRANSFER, 0, 0, 0, reply), "transfer memory");
    u32 size = TRANSFER;
    struct message one = {
        .command = 3, .arguments = &size, .size = 4, .copies = 2, .copy = {CURRENT_PROCESS, (u32)reply[0]}};
    check(request(nv, &one), "Initialize");
    check(one.values[0], "Initialize of nvdrv");
    nv_map_device = nv_open("/dev/nvmap");
}
u32 nv_open(const char *path) {
    u32 size = 0;
    while (path[size]) size++;
    struct message one = {.command = 0, .plain = 1, .ins = 1, .in = {path}, .in_size = {size}};
    check(request(nv, &one), "Open");
    u32 number = one.values[0];
    check(one.values[1], path);
    return number;
}
u32 nv_close(u32 device) {
    u32 error = 0;
    u32 result = ask(nv, 2, &device, 4, &error, 4);
    return result ? result : error;
}
static u32 control(u32 command, u32 device, u32 word, void *data, const void *more, u32 more_size) {
    u32 size = word >> 16 & 0x3FFF, arguments[2] = {device, word};
    struct message one = {
        .command = command, .arguments = arguments, .size = 8, .ins = 1 + (more != 0), .outs = 1,
        .in = {word >> 30 & 1 ? data : 0, more}, .in_size = {word >> 30 & 1 ? size : 0, more_size},
        .out = {word >> 31 ? data : 0}, .out_size = {word >> 31 ? size : 0}};
    u32 result = request(nv, &one);
    return result ? result : one.values[0];
}
u32 nv_control(u32 device, u32 word, void *data) { return control(1, device, word, data, 0, 0); }
u32 nv_control2(u32 device, u32 word, void *data, const void *more, u32 more_size) {
    return control(11, device, word, data, more, more_size);
}
u32 nv_event(u32 device, u32 number) {
    u32 arguments[2] = {device, number};
    struct message one = {.command = 4, .arguments = arguments, .size = 8};
    check(request(nv, &one), "QueryEvent");
    return one.values[0] || !one.handles ? 0 : one.handle[0];
}
u32 nv_memory(void *at, u32 size, u32 kind) {
    u32 create[2] = {size, 0};
    check(nv_control(nv_map_device, NV_RW(0x0101, 8), create), "nvmap Create");
    struct { u32 handle, heap, flags, align; u64 kind, address; } alloc = {create[1], 0, 0, 0x1000, kind, (u64)at};
    check(nv_control(nv_map_device, NV_RW(0x0104, 0x20), &alloc), "nvmap Alloc");
    return create[1];
}

/* The window */
static u32 root, display_service, relay, binder;
static u64 display, layer;
u32 window_event;
enum { DEQUEUE = 3, QUEUE = 7, CONNECT = 10, DISCONNECT = 11, SET_BUFFER = 14 };

s32 window_ask(u32 code, const void *arguments, u32 size, void *answer, u32 answer_size) {
    static const char name[] = "android.gui.IGraphicBufferProducer";
    static u8 parcel[0x400], back[0x400];
    u32 length = sizeof name - 1, at = 16;
    clear(parcel, sizeof parcel);
    u32 head[2] = {0x100, length};
    copy(parcel + at, head, 8);
    at += 8;
    for (u32 n = 0; n < length; n++) parcel[at + 2 * n] = (u8)name[n];
    at += up(2 * (length + 1), 4);
    copy(parcel + at, arguments, size);
    at += up(size, 4);
    u32 frame[4] = {at - 16, 16, 0, at};
    copy(parcel, frame, 16);
    u32 sent[3] = {binder, code, 0};
    struct message one = {
        .command = 3, .arguments = sent, .size = 12, .ins = 1, .outs = 1, .in = {parcel}, .in_size = {at},
        .out = {back}, .out_size = {sizeof back}};
    check(request(relay, &one), "TransactParcel");
    u32 got = *(u32 *)back;
    copy(answer, back + *(u32 *)(back + 4), got < answer_size ? got : answer_size);
    return (s32)got;
}

void window_open(void) {
    u8 name[64] = "Default";
    u32 which = 1;
    root = service("vi:m");
    display_service = ask_object(root, 2, &which, 4);
    relay = ask_object(display_service, 100, 0, 0);
    u32 manager_display = ask_object(display_service, 102, 0, 0);
    check(ask(display_service, 1010, name, 64, &display, 8), "OpenDisplay");
    struct { u32 flags, pad; u64 display, owner; } create = {0, 0, display, 0};
    check(ask(manager_display, 2010, &create, sizeof create, &layer, 8), "CreateManagedLayer");
    close_session(manager_display);
    static u8 about[0x100];
    struct { u8 name[64]; u64 layer, owner; } open = {.layer = layer};
    copy(open.name, name, 64);
    struct message one = {
        .command = 2020, .arguments = &open, .size = sizeof open, .pid = 1, .plain = 1, .outs = 1, .out = {about},
        .out_size = {sizeof about}};
    check(request(display_service, &one), "OpenLayer");
    binder = *(u32 *)(about + *(u32 *)(about + 4) + 8);
    u32 native[2] = {binder, 0xF};
    struct message event = {.command = 2, .arguments = native, .size = 8};
    check(request(relay, &event), "GetNativeHandle");
    window_event = event.handle[0];
    check((u32)window_connect(), "CONNECT");
}
s32 window_connect(void) {
    u32 arguments[3] = {0, 2, 0}, answer[5] = {0, 0, 0, 0, 0xFF};
    window_ask(CONNECT, arguments, 12, answer, 20);
    return (s32)answer[4];
}
s32 window_disconnect(void) {
    u32 api = 2;
    s32 status = -1;
    window_ask(DISCONNECT, &api, 4, &status, 4);
    return status;
}
void window_set(u32 slot, const struct buffer *one) {
    u32 data[4 + 0x16C / 4] = {slot, 1, 0x16C, 0}, *head = data + 4, *native = head + 10;
    head[0] = 0x47424652;
    head[1] = one->width, head[2] = one->height, head[3] = one->width;
    head[4] = one->format, head[5] = 0xB00, head[6] = 0x2A, head[9] = 0x51;
    native[0] = 0xFFFFFFFF, native[1] = one->memory, native[3] = 0xDAFFCAFF, native[4] = 0x2A;
    native[6] = 0xB00, native[7] = one->format, native[8] = one->format, native[9] = one->width;
    u32 rows = 8u << one->block_height_log2, size = one->pitch * up(one->height, rows);
    native[10] = size, native[11] = 1;
    u32 *plane = native + 13;
    plane[0] = one->width, plane[1] = one->height, plane[4] = 3, plane[5] = one->pitch, plane[7] = one->offset;
    plane[8] = 0xFE, plane[9] = one->block_height_log2, plane[14] = size;
    u32 answer;
    window_ask(SET_BUFFER, data, sizeof data, &answer, 0);
}
s32 window_take(u32 *slot, struct fences *fences) {
    u32 arguments[5] = {1, 0, 0, 0, 0xB00}, answer[4 + 9 + 1];
    window_ask(DEQUEUE, arguments, 20, answer, sizeof answer);
    *slot = answer[0];
    copy(fences, answer + 4, sizeof *fences);
    return (s32)answer[13];
}
s32 window_wait(u32 *slot, struct fences *fences) {
    s32 status;
    while ((status = window_take(slot, fences)) == WOULD_BLOCK) check(wait_for(window_event, FOREVER), "a free buffer");
    return status;
}
s32 window_show(u32 slot, u32 interval, u32 transform, const struct fences *fences) {
    u32 data[3 + 0x54 / 4] = {slot, 0x54, 0}, *one = data + 3, answer[5] = {0, 0, 0, 0, 0xFF};
    one[8] = transform, one[11] = interval;
    copy(one + 12, fences, sizeof *fences);
    window_ask(QUEUE, data, sizeof data, answer, 20);
    return (s32)answer[4];
}
void window_close(void) {
    u64 nothing;
    check(ask(display_service, 2021, &layer, 8, &nothing, 0), "CloseLayer");
    check(ask(display_service, 1020, &display, 8, &nothing, 0), "CloseDisplay");
    svc_close(window_event, 0, 0, 0, 0, 0, 0);
    close_session(relay);
    close_session(display_service);
    close_session(root);
}
