#include "card.h"

/* Commands. Source: libnx's services/fs.c. */
enum { SET_CURRENT_PROCESS = 1, OPEN_SD_CARD = 18 };
enum { CREATE_FILE = 0, DELETE_FILE = 1, OPEN_FILE = 8, OPEN_FOLDER = 9, COMMIT = 10 };
enum { READ = 0, WRITE = 1, FLUSH = 2, SET_SIZE = 3, GET_SIZE = 4, READ_FOLDER = 0 };
enum { MODE_READ = 1, MODE_WRITE = 2, MODE_APPEND = 4, FILES_ONLY = 2 };
enum { ENTRY_SIZE = 0x310, ENTRIES = 32, PIECE = 1 << 20 };
static u32 files, card;

void card_close(void) {
    if (card) close_session(card);
    if (files) close_session(files);
}
u32 card_open(void) {
    u32 result = find_service("fsp-srv", &files);
    u64 nothing = 0;
    struct message set = {.command = SET_CURRENT_PROCESS, .arguments = &nothing, .size = 8, .pid = 1};
    if (!result) result = request(files, &set);
    struct message open = {.command = OPEN_SD_CARD};
    if (!result) result = request(files, &open);
    if (!result) card = open.handle[0];
    return result;
}

static u32 with_path(u32 command, const char *path, const void *data, u32 size, struct message *one) {
    static char sent[MOST_PATH];
    struct text text = {sent, sizeof sent, 0};
    clear(&text);
    put(&text, path);
    struct message fresh = {
        .command = command, .arguments = data, .size = size, .pointers = 1, .ins = 1, .in = {sent}, .in_size = {sizeof sent}};
    *one = fresh;
    return request(card, one);
}
static u32 open_path(u32 command, const char *path, u32 mode, u32 *object) {
    struct message one;
    u32 result = with_path(command, path, &mode, sizeof mode, &one);
    *object = result ? 0 : one.handle[0];
    return result;
}

u32 card_size(const char *path, u64 *size) {
    u32 file, result = open_path(OPEN_FILE, path, MODE_READ, &file);
    if (result) return result;
    result = ask(file, GET_SIZE, 0, 0, size, sizeof *size);
    close_session(file);
    return result;
}
u32 card_read(const char *path, void *to, u64 size) { return card_read_part(path, 0, to, size); }
u32 card_read_part(const char *path, u64 from, void *to, u64 size) {
    enum { TOO_SHORT = 0xFFFFFFFF };
    u32 file, result = open_path(OPEN_FILE, path, MODE_READ, &file);
    if (result) return result;
    for (u64 at = 0; at < size && !result;) {
        u64 piece = size - at < PIECE ? size - at : PIECE;
        s64 arguments[3] = {0, (s64)(from + at), (s64)piece};
        struct message one = {
            .command = READ, .arguments = arguments, .size = sizeof arguments, .plain = 1, .outs = 1, .out = {(u8 *)to + at},
            .out_size = {piece}};
        result = request(file, &one);
        if (!result) {
            u64 got = *(const u64 *)one.values;
            if (!got || got > piece) result = TOO_SHORT;
            else at += got;
        }
    }
    close_session(file);
    return result;
}
u32 card_write(const char *path, const void *data, u64 size) {
    struct message one;
    struct { u32 option, pad; s64 size; } create = {0, 0, (s64)size};
    with_path(DELETE_FILE, path, 0, 0, &one);              /* there may be none */
    u32 file, result = with_path(CREATE_FILE, path, &create, sizeof create, &one);
    if (!result) result = open_path(OPEN_FILE, path, MODE_WRITE | MODE_APPEND, &file);
    if (result) return result;
    for (u64 at = 0; at < size && !result;) {
        u64 piece = size - at < PIECE ? size - at : PIECE;
        s64 arguments[3] = {0, (s64)at, (s64)piece};
        struct message write = {
            .command = WRITE, .arguments = arguments, .size = sizeof arguments, .plain = 1, .ins = 1,
            .in = {(const u8 *)data + at}, .in_size = {piece}};
        result = request(file, &write);
        at += piece;
    }
    if (!result) result = ask(file, FLUSH, 0, 0, 0, 0);
    close_session(file);
    if (!result) result = ask(card, COMMIT, 0, 0, 0, 0);
    return result;
}

u32 card_list(const char *path, char *names, u32 room, u32 *count) {
    static u8 entries[ENTRIES * ENTRY_SIZE];
    u32 folder, result = open_path(OPEN_FOLDER, path, FILES_ONLY, &folder);
    struct text text = {names, room, 0};
    *count = 0;
    while (!result) {
        struct message one = {
            .command = READ_FOLDER, .plain = 1, .outs = 1, .out = {entries}, .out_size = {sizeof entries}};
        result = request(folder, &one);
        u64 got = result ? 0 : *(const u64 *)one.values;
        if (!got || got > ENTRIES) break;
        for (u64 n = 0; n < got; n++) {
            const char *name = (const char *)entries + n * ENTRY_SIZE;
            entries[n * ENTRY_SIZE + MOST_PATH - 1] = 0;
            u32 before = text.size;
            put(&text, name);
            if (text.size + 2 >= room) { text.size = before; break; }
            text.size++, ++*count;                         /* its 0 stays */
        }
    }
    if (folder) close_session(folder);
    return result;
}
