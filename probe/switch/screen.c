#include "screen.h"
#include "../common/font.h"

enum { WIDTH = 640, HEIGHT = 360, BYTES = 4, PITCH = WIDTH * BYTES, BLOCK_LOG2 = 4, BLOCK_ROWS = 8 << BLOCK_LOG2 };
enum { IMAGE = PITCH * ((HEIGHT + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS), SLOTS = 2 };
enum { CELL = 8, LINE = 12, DOT = 2, COLUMNS = WIDTH / CELL, LINES = HEIGHT / LINE, LIGHT = -1 };
_Static_assert(SLOTS * IMAGE <= SCREEN_BYTES, "");
/* Commands and codes. */
enum { OPEN_APPLICATION = 0, OPEN_LIBRARY_APPLET = 200, SELF_CONTROLLER = 1, WINDOW_CONTROLLER = 2, OWNER = 1,
       FOREGROUND = 10, MANAGED_LAYER = 40 };
enum { DISPLAY_SERVICE = 2, MANAGER = 1, RELAY = 100, OPEN_DISPLAY = 1010, CLOSE_LAYER = 2021, OPEN_LAYER = 2020,
       SCALING = 2101, FIT_TO_LAYER = 2, TRANSACT = 3 };
enum { MOST_OBJECTS = 8 };
enum { DEQUEUE = 3, QUEUE = 7, CONNECT = 10, DISCONNECT = 11, SET_BUFFER = 14, CPU = 2, TOKEN = 0x100 };
enum { RGBA8 = 1, USAGE = 0xB00, GRAPHIC_BUFFER = 0x47424652, NATIVE_MAGIC = 0xDAFFCAFF, NATIVE_INTS = 0x51, OWN_PID = 42,
       BLOCK_LINEAR = 3, GENERIC = 0xFE, NATIVE_BYTES = 0x16C, HEAD_WORDS = 10, FIRST_PLANE = 13 };
static const u64 COLOR_FORMAT = 0x100532120;               /* A8B8G8R8 */

static bool on;
static u32 objects[MOST_OBJECTS], object_count;            /* sessions that are closed at the end */
static u32 display_service, relay, binder;
static u64 layer;
static struct object pixels;
static char lines[LINES][COLUMNS + 1];
static u32 line_count, drawn[SLOTS];

static u32 object_of(u32 session, u32 command, const void *arguments, u32 size, bool process) {
    struct message one = {
        .command = command, .arguments = arguments, .size = size, .pid = process, .copies = process, .copy = {CURRENT_PROCESS}};
    if (request(session, &one) || !one.handles) return 0;
    if (object_count < MOST_OBJECTS) objects[object_count++] = one.handle[0];
    return one.handle[0];
}
static u32 service_of(const char *name) {
    u32 session;
    if (find_service(name, &session)) return 0;
    objects[object_count++] = session;
    return session;
}
/* The program as an applet: whose layer it is. */
static bool find_owner(u64 *owner) {
    enum { TRIES = 50, PAUSE = 10 };
    u64 nothing = 0;
    u32 proxy = 0;
    bool application = gpu_is_application();
    u32 session = service_of(application ? "appletOE" : "appletAE");
    if (!session) return false;
    for (u32 n = 0; n < TRIES && !proxy; n++) {
        proxy = object_of(session, application ? OPEN_APPLICATION : OPEN_LIBRARY_APPLET, &nothing, sizeof nothing, true);
        if (!proxy) sleep_milliseconds(PAUSE);
    }
    u32 self = object_of(proxy, SELF_CONTROLLER, 0, 0, false), window = object_of(proxy, WINDOW_CONTROLLER, 0, 0, false);
    if (!proxy || !self || !window) return false;
    if (ask(window, OWNER, 0, 0, owner, sizeof *owner)) return false;
    ask(window, FOREGROUND, 0, 0, 0, 0);
    return !ask(self, MANAGED_LAYER, 0, 0, &layer, sizeof layer);
}
static bool open_layer(u64 owner) {
    static u8 about[0x100];
    u8 name[64] = "Default";
    u32 root = service_of("vi:m"), policy = MANAGER;
    u64 display;
    struct { u32 mode, pad; u64 layer; } scaling = {FIT_TO_LAYER, 0, layer};
    if (!root) return false;
    display_service = object_of(root, DISPLAY_SERVICE, &policy, sizeof policy, false);
    relay = display_service ? object_of(display_service, RELAY, 0, 0, false) : 0;
    if (!relay || ask(display_service, OPEN_DISPLAY, name, sizeof name, &display, sizeof display)) return false;
    struct { u8 name[64]; u64 layer, owner; } open = {.layer = layer, .owner = owner};
    memcpy(open.name, name, sizeof name);
    struct message one = {
        .command = OPEN_LAYER, .arguments = &open, .size = sizeof open, .pid = 1, .plain = 1, .outs = 1, .out = {about},
        .out_size = {sizeof about}};
    if (request(display_service, &one)) return false;
    binder = *(u32 *)(about + *(u32 *)(about + 4) + 8);    /* the third word of a parcel's payload */
    ask(display_service, SCALING, &scaling, sizeof scaling, 0, 0);
    return true;
}
/* A call of the layer's buffer queue; the words of its answer. */
static bool transact(u32 code, const void *arguments, u32 size, u32 *answer, u32 words) {
    static const char name[] = "android.gui.IGraphicBufferProducer";
    static u8 parcel[0x400], back[0x400];
    u32 at = 16, length = sizeof name - 1, head[2] = {TOKEN, length}, sent[3] = {binder, code, 0};
    memset(parcel, 0, sizeof parcel);
    memset(back, 0, sizeof back);
    memcpy(parcel + at, head, sizeof head);
    at += sizeof head;
    for (u32 n = 0; n < length; n++) parcel[at + 2 * n] = (u8)name[n];
    at += (2 * (length + 1) + 3) & ~3u;
    memcpy(parcel + at, arguments, size);
    at += (size + 3) & ~3u;
    u32 frame[4] = {at - 16, 16, 0, at};
    memcpy(parcel, frame, sizeof frame);
    struct message one = {
        .command = TRANSACT, .arguments = sent, .size = sizeof sent, .ins = 1, .outs = 1, .in = {parcel}, .in_size = {at},
        .out = {back}, .out_size = {sizeof back}};
    if (request(relay, &one)) return false;
    u32 got = *(u32 *)back, start = *(u32 *)(back + 4);
    if (start > sizeof back || got > sizeof back - start || got < 4 * words) return false;
    memcpy(answer, back + start, 4 * words);
    return true;
}
static bool set_buffer(u32 slot, u32 id) {
    u32 data[4 + NATIVE_BYTES / 4] = {slot, 1, NATIVE_BYTES, 0}, *head = data + 4, *native = head + HEAD_WORDS;
    head[0] = GRAPHIC_BUFFER;
    head[1] = WIDTH, head[2] = HEIGHT, head[3] = WIDTH, head[4] = RGBA8, head[5] = USAGE, head[6] = OWN_PID, head[9] = NATIVE_INTS;
    native[0] = (u32)-1, native[1] = id, native[3] = NATIVE_MAGIC, native[4] = OWN_PID;
    native[6] = USAGE, native[7] = RGBA8, native[8] = RGBA8, native[9] = WIDTH, native[10] = IMAGE, native[11] = 1;
    u32 *plane = native + FIRST_PLANE;
    plane[0] = WIDTH, plane[1] = HEIGHT, plane[4] = BLOCK_LINEAR, plane[5] = PITCH, plane[7] = slot * IMAGE;
    memcpy(plane + 2, &COLOR_FORMAT, sizeof COLOR_FORMAT);
    plane[8] = GENERIC, plane[9] = BLOCK_LOG2, plane[14] = IMAGE;
    return transact(SET_BUFFER, data, sizeof data, 0, 0);
}

void screen_begin(u8 *memory) {
    enum { ANSWER_OF_CONNECT = 5 };
    u64 owner = 0;
    u32 id, connect[3] = {0, CPU, 0}, answer[ANSWER_OF_CONNECT];
    pixels = (struct object){memory, SCREEN_BYTES, 0};
    if (!find_owner(&owner) || !open_layer(owner)) return;
    if (gpu_object(&pixels) || gpu_id(&pixels, &id)) return;
    if (!transact(CONNECT, connect, sizeof connect, answer, ANSWER_OF_CONNECT)) return;
    on = true;
    for (u32 slot = 0; slot < SLOTS; slot++) on = on && set_buffer(slot, id);
}
void screen_line(const char *text) {
    if (line_count == LINES) {
        line_count = 0;
        for (u32 slot = 0; slot < SLOTS; slot++) drawn[slot] = LINES + 1; /* all of it is old */
    }
    u32 n = 0;
    for (; n < COLUMNS && text[n]; n++) lines[line_count][n] = text[n];
    lines[line_count++][n] = 0;
}
static u32 place(u32 x, u32 y) {                           /* x in bytes */
    u32 rows = 1u << BLOCK_LOG2, gob = y / 8 % rows, block = y / BLOCK_ROWS * (PITCH / 64) + x / 64;
    return (block * rows + gob) * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}
static void draw(u8 *image, u32 column, u32 line, char letter) {
    if (letter >= 'a' && letter <= 'z') letter = (char)(letter - 'a' + 'A');
    u32 glyph = letter >= FONT_FIRST && letter < FONT_END ? FONT[letter - FONT_FIRST] : 0;
    for (u32 bit = 0; bit < FONT_WIDTH * FONT_HEIGHT; bit++) {
        if (!(glyph >> (FONT_WIDTH * FONT_HEIGHT - 1 - bit) & 1)) continue;
        u32 x = column * CELL + 1 + bit % FONT_WIDTH * DOT, y = line * LINE + 1 + bit / FONT_WIDTH * DOT;
        for (u32 n = 0; n < DOT * DOT; n++) *(s32 *)(image + place(BYTES * (x + n % DOT), y + n / DOT)) = LIGHT;
    }
}
void screen_show(void) {
    enum { ANSWER_OF_DEQUEUE = 14, STATUS = 13, TRIES = 10, PAUSE = 10, QUEUE_BYTES = 0x54, INTERVAL = 11, ANSWER_OF_QUEUE = 5 };
    u32 wanted[5] = {1, 0, 0, 0, USAGE}, answer[ANSWER_OF_DEQUEUE];
    u32 shown[3 + QUEUE_BYTES / 4] = {0, QUEUE_BYTES, 0};
    bool taken = false;
    for (u32 n = 0; on && n < TRIES && !taken; n++) {
        taken = transact(DEQUEUE, wanted, sizeof wanted, answer, ANSWER_OF_DEQUEUE) && !answer[STATUS];
        if (!taken) sleep_milliseconds(PAUSE);
    }
    if (!taken || answer[0] >= SLOTS) return;
    u32 slot = answer[0];
    u8 *image = pixels.at + slot * IMAGE;
    if (drawn[slot] > line_count) zero(image, IMAGE), drawn[slot] = 0;
    for (; drawn[slot] < line_count; drawn[slot]++)
        for (u32 n = 0; lines[drawn[slot]][n]; n++) draw(image, n, drawn[slot], lines[drawn[slot]][n]);
    __asm__ volatile("dsb sy" : : : "memory");
    shown[0] = slot;
    shown[3 + INTERVAL] = 1;
    transact(QUEUE, shown, sizeof shown, answer, ANSWER_OF_QUEUE);
}
void screen_end(void) {
    u32 api = CPU, status;
    if (on) {
        transact(DISCONNECT, &api, sizeof api, &status, 1);
        ask(display_service, CLOSE_LAYER, &layer, sizeof layer, 0, 0);
    }
    gpu_release(&pixels);
    while (object_count) close_session(objects[--object_count]);
    on = false;
}
