/* Files of the card: its own file, reading, writing, folders, and what goes wrong. */
#include "services.h"

enum { CREATE, DELETE, MAKE_FOLDER, RENAME = 5, TYPE = 7, OPEN, OPEN_FOLDER };
enum { READ = 0, WRITE = 1, SET_SIZE = 3, GET_SIZE = 4 };
static u32 card;
static char path_a[0x301], path_b[0x301];

static void set_path(char *path, const char *text) {
    u32 n = 0;
    for (; text[n]; n++) path[n] = text[n];
    path[n] = 0;
}
static u32 with_path(u32 command, const char *path, const char *other, const void *data, u32 size, struct message *one) {
    struct message fresh = {
        .command = command, .arguments = data, .size = size, .pointers = 1, .ins = other ? 2 : 1, .in = {path_a, path_b},
        .in_size = {sizeof path_a, sizeof path_b}};
    *one = fresh;
    set_path(path_a, path);
    if (other) set_path(path_b, other);
    return request(card, one);
}
static u32 open_file(const char *path, u32 mode) {
    struct message one;
    u32 result = with_path(OPEN, path, 0, &mode, 4, &one);
    if (result) say_hex(path, result);
    return result ? 0 : one.handle[0];
}
static u64 read_at(u32 file, s64 offset, void *to, u64 size) {
    s64 arguments[3] = {0, offset, (s64)size};
    struct message one = {
        .command = READ, .arguments = arguments, .size = 24, .plain = 1, .outs = 1, .out = {to}, .out_size = {size}};
    u32 result = request(file, &one);
    if (result) say_hex("read", result);
    return result ? 0 : *(const u64 *)one.values;
}
static u32 write_at(u32 file, s64 offset, const void *from, u64 size) {
    s64 arguments[3] = {0, offset, (s64)size};
    struct message one = {
        .command = WRITE, .arguments = arguments, .size = 24, .plain = 1, .ins = 1, .in = {from}, .in_size = {size}};
    return request(file, &one);
}

int main(void) {
    u64 nothing = 0;
    u32 files = service("fsp-srv");
    struct message one = {.command = 1, .arguments = &nothing, .size = 8, .pid = 1};
    check(request(files, &one), "SetCurrentProcess");
    card = ask_object(files, 18, 0, 0);

    const char *own = argument(0);                         /* sdmc:/switch/files.nro */
    while (*own && *own != '/') own++;
    u32 file = open_file(own, 1);
    u8 head[0x20];
    say_number("own", read_at(file, 0, head, sizeof head));
    say_number("magic", head[0x10] == 'N' && head[0x11] == 'R' && head[0x12] == 'O');
    close_session(file);

    if ((file = open_file("/data/text.txt", 1))) {
        static char text[0x2000];
        u64 size = read_at(file, 0, text, sizeof text - 1);
        text[size] = 0;
        say(text);
        say_number("rest", read_at(file, 4, text, 4));
        read_at(file, 1 << 20, text, 4);
        read_at(file, -1, text, 4);
        say_hex("write", write_at(file, 0, "x", 1));
        close_session(file);
    }
    open_file("/none", 1);
    open_file("/data", 1);

    struct { u32 option, pad; s64 size; } create = {0, 0, 8};
    u32 result = with_path(CREATE, "/new.bin", 0, &create, 16, &one);
    say_hex("create", result);
    if (!result) {
        file = open_file("/new.bin", 3);
        say_hex("inside", write_at(file, 6, "ab", 2));
        say_hex("beyond", write_at(file, 7, "ab", 2));
        s64 size = 7;
        say_hex("cut", ask(file, SET_SIZE, &size, 8, 0, 0));
        check(ask(file, GET_SIZE, 0, 0, &size, 8), "GetSize");
        say_number("size", (u64)size);
        close_session(file);
        say_hex("folder", with_path(MAKE_FOLDER, "/folder", 0, 0, 0, &one));
        say_hex("again", with_path(MAKE_FOLDER, "/folder", 0, 0, 0, &one));
        say_hex("rename", with_path(RENAME, "/new.bin", "/folder/old.bin", 0, 0, &one));
    }

    static u8 entries[8 * 0x310];
    u32 all = 3;
    check(with_path(OPEN_FOLDER, "/", 0, &all, 4, &one), "OpenDirectory");
    u32 folder = one.handle[0];
    struct message list = {.plain = 1, .outs = 1, .out = {entries}, .out_size = {sizeof entries}};
    check(request(folder, &list), "Read");
    u64 count = *(const u64 *)list.values;
    for (u64 n = 0; n < count; n++) {
        const u8 *entry = entries + n * 0x310;
        say_number((const char *)entry, entry[0x304] ? *(const u64 *)(entry + 0x308) : 0);
    }
    close_session(folder);
    return 0;
}
