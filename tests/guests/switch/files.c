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
static u32 with_path(u32 command, const char *path, const char *other, const void *data, u32 size, struct request *one) {
    struct request fresh = {.session = card, .command = command, .data = data, .size = size};
    *one = fresh;
    set_path(path_a, path);
    one->paths[0] = (struct buffer){path_a, sizeof path_a};
    if (other) {
        set_path(path_b, other);
        one->paths[1] = (struct buffer){path_b, sizeof path_b};
    }
    return ask(one);
}
static u32 open_file(const char *path, u32 mode) {
    struct request one;
    u32 result = with_path(OPEN, path, 0, &mode, 4, &one);
    if (result) say_hex(path, result);
    return result ? 0 : one.handles[0];
}
static u64 read_at(u32 file, s64 offset, void *to, u64 size) {
    s64 arguments[3] = {0, offset, (s64)size};
    struct request one = {.session = file, .command = READ, .data = arguments, .size = 24, .out = {{to, size}}};
    u32 result = ask(&one);
    if (result) say_hex("read", result);
    return result ? 0 : one.values[0];
}
static u32 write_at(u32 file, s64 offset, const void *from, u64 size) {
    s64 arguments[3] = {0, offset, (s64)size};
    struct request one = {.session = file, .command = WRITE, .data = arguments, .size = 24, .in = {{from, size}}};
    return ask(&one);
}

int main(void) {
    u64 nothing = 0;
    struct request one = {.session = service("fsp-srv"), .command = 1, .data = &nothing, .size = 8, .pid = 1};
    check(ask(&one), "SetCurrentProcess");
    card = ask_handle(one.session, 18, 0, 0);

    const char *own = argument(0);                         /* sdmc:/switch/files.nro */
    while (*own && *own != '/') own++;
    u32 file = open_file(own, 1);
    u8 head[0x20];
    say_number("own", read_at(file, 0, head, sizeof head));
    say_number("magic", head[0x10] == 'N' && head[0x11] == 'R' && head[0x12] == 'O');
    hang_up(file);

    if ((file = open_file("/data/text.txt", 1))) {
        static char text[0x2000];
        u64 size = read_at(file, 0, text, sizeof text - 1);
        text[size] = 0;
        say(text);
        say_number("rest", read_at(file, 4, text, 4));
        read_at(file, 1 << 20, text, 4);
        read_at(file, -1, text, 4);
        say_hex("write", write_at(file, 0, "x", 1));
        hang_up(file);
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
        struct request cut = {.session = file, .command = SET_SIZE, .data = &size, .size = 8};
        say_hex("cut", ask(&cut));
        struct request asked = {.session = file, .command = GET_SIZE};
        check(ask(&asked), "GetSize");
        say_number("size", asked.values[0]);
        hang_up(file);
        say_hex("folder", with_path(MAKE_FOLDER, "/folder", 0, 0, 0, &one));
        say_hex("again", with_path(MAKE_FOLDER, "/folder", 0, 0, 0, &one));
        say_hex("rename", with_path(RENAME, "/new.bin", "/folder/old.bin", 0, 0, &one));
    }

    static u8 entries[8 * 0x310];
    u32 all = 3;
    check(with_path(OPEN_FOLDER, "/", 0, &all, 4, &one), "OpenDirectory");
    u32 folder = one.handles[0];
    struct request list = {.session = folder, .command = 0, .out = {{entries, sizeof entries}}};
    check(ask(&list), "Read");
    for (u64 n = 0; n < list.values[0]; n++) {
        const u8 *entry = entries + n * 0x310;
        say_number((const char *)entry, entry[0x304] ? *(const u64 *)(entry + 0x308) : 0);
    }
    hang_up(folder);
    return 0;
}
