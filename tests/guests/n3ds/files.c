/* Files and folders on the memory card. Prints the result of each step. */
#include "services.h"
static u32 fs, archive;
static u16 path16[2][128];

static u32 set_path(u32 at, const char *path, u32 n) { /* type and size at a word; the descriptor comes later */
    u32 size = put_utf16(path16[n], path);
    message()[at] = 4; message()[at + 1] = size;
    return size;
}
static u32 one_path(u32 header, const char *path, u32 words) { /* of a request with archive in 2, 3 and path in 4, 5 */
    u32 *m = message(), size;
    m[1] = 0; m[2] = archive; m[3] = 0;
    size = set_path(4, path, 0);
    m[words + 1] = static_buffer(size, 0); m[words + 2] = (u32)path16[0];
    return ask(fs, header);
}
static u32 open_file(const char *path, u32 flags, u32 *file) {
    u32 *m = message();
    m[6] = flags; m[7] = 0;
    u32 result = one_path(0x080201C2, path, 7);
    *file = m[3];
    return result;
}
static u32 read_file(u32 file, u32 offset, void *to, u32 size) { /* bytes read */
    u32 *m = message();
    m[1] = offset; m[2] = 0; m[3] = size; m[4] = writable(size); m[5] = (u32)to;
    u32 result = ask(file, 0x080200C2);
    return result ? result : m[2];
}
static u32 write_file(u32 file, u32 offset, const void *from, u32 size) {
    u32 *m = message();
    m[1] = offset; m[2] = 0; m[3] = size; m[4] = 1; m[5] = readable(size); m[6] = (u32)from;
    u32 result = ask(file, 0x08030102);
    return result ? result : m[2];
}
static u32 size_of_file(u32 file) { ask(file, 0x08040000); return message()[2]; }
static void close_file(u32 file) { ask(file, 0x08080000); svc_close(file, 0, 0, 0, 0, 0, 0); }
static u32 rename_to(u32 header, const char *old, const char *new) {
    u32 *m = message(), a, b;
    m[1] = 0; m[2] = archive; m[3] = 0; a = set_path(4, old, 0);
    m[6] = archive; m[7] = 0; b = set_path(8, new, 1);
    m[10] = static_buffer(a, 1); m[11] = (u32)path16[0]; m[12] = static_buffer(b, 2); m[13] = (u32)path16[1];
    return ask(fs, header);
}
static void list(const char *path) {
    static u8 entries[4 * 0x228];
    u32 *m = message(), size, result;
    m[1] = archive; m[2] = 0; size = set_path(3, path, 0);
    m[5] = static_buffer(size, 0); m[6] = (u32)path16[0];
    result = ask(fs, 0x080B0102);
    say_hex(path, result);
    if (result) return;
    u32 folder = m[3];
    for (;;) {
        m[1] = 4; m[2] = writable(sizeof entries); m[3] = (u32)entries;
        check(ask(folder, 0x08010042), "read folder");
        u32 count = m[2];
        if (!count) break;
        for (u32 n = 0; n < count; n++) {
            u8 *entry = entries + 0x228 * n;
            say_utf16(entry[0x21C] ? "  folder" : "  file", (u16 *)entry, 0x105);
            if (!entry[0x21C]) say_number("    bytes", *(u32 *)(entry + 0x220));
        }
    }
    ask(folder, 0x08020000);
    svc_close(folder, 0, 0, 0, 0, 0, 0);
}
static u32 open_archive(u32 id) {
    u32 *m = message();
    m[1] = id; m[2] = 1; m[3] = 1; m[4] = static_buffer(1, 0); m[5] = (u32)"";
    return ask(fs, 0x080C00C2);
}
int main(void) {
    static u8 data[64];
    u32 *m = message(), file, other;
    fs = service("fs:USER");
    m[1] = 0x20;
    say_hex("initialized", ask(fs, 0x08010002));
    say_hex("saved data", open_archive(4));
    say_hex("further data", open_archive(6));
    say_hex("card", open_archive(9));
    archive = m[2];
    list("/");
    list("/notes");
    list("/none");
    list("/notes/first.txt");
    say_hex("open", open_file("/notes/first.txt", 1, &file));
    say_number("size", size_of_file(file));
    zero(data, sizeof data);
    say_number("read", read_file(file, 6, data, 32));
    say((char *)data); say("\n");
    say_number("beyond its end", read_file(file, 1000, data, 32));
    say_hex("write without the right", write_file(file, 0, "x", 1));
    m[1] = 6; m[2] = 0; m[3] = 3; m[4] = 0;
    say_hex("part", ask(file, 0x08010100));
    other = m[3];
    say_number("size of the part", size_of_file(other));
    zero(data, sizeof data);
    say_number("read of the part", read_file(other, 1, data, 32));
    say((char *)data); say("\n");
    close_file(file);
    say_hex("read after closing", read_file(other, 0, data, 1));
    say_hex("absent", open_file("/notes/none.txt", 1, &file));
    say_hex("outside", open_file("/../../../../etc/passwd", 1, &file));
    say_hex("link to the outside", open_file("/leads-out", 1, &file));
    say_hex("folder as a file", open_file("/notes", 1, &file));
    m[6] = 0; m[7] = 100; m[8] = 0;
    say_hex("create", one_path(0x08080202, "/notes/new.bin", 8));
    m[6] = 0; m[7] = 1; m[8] = 0;
    say_hex("create again", one_path(0x08080202, "/notes/new.bin", 8));
    m[6] = 0; m[7] = 0; m[8] = 1;
    say_hex("create one of 4 GiB", one_path(0x08080202, "/notes/large.bin", 8));
    say_hex("open for writing", open_file("/notes/new.bin", 3, &file));
    say_number("write", write_file(file, 98, "abcdef", 6));
    say_number("size", size_of_file(file));
    m[1] = 102; m[2] = 0;
    say_hex("cut", ask(file, 0x08050080));
    close_file(file);
    m[6] = 0;
    say_hex("make a folder", one_path(0x08090182, "/more", 6));
    m[6] = 0;
    say_hex("make it again", one_path(0x08090182, "/more", 6));
    say_hex("move", rename_to(0x08050244, "/notes/new.bin", "/more/moved.bin"));
    say_hex("move what is not there", rename_to(0x08050244, "/notes/new.bin", "/more/again.bin"));
    say_hex("rename a folder", rename_to(0x080A0244, "/more", "/less"));
    say_hex("delete a full folder", one_path(0x08060142, "/less", 5));
    say_hex("delete a file", one_path(0x08040142, "/less/moved.bin", 5));
    say_hex("delete an empty folder", one_path(0x08060142, "/less", 5));
    say_hex("delete the card", one_path(0x08070142, "/", 5));
    u32 size = put_utf16(path16[0], "/notes/first.txt");
    m[1] = archive; m[2] = 0; m[3] = 1; m[4] = size; m[5] = 8;
    m[6] = readable(size); m[7] = (u32)path16[0]; m[8] = writable(8); m[9] = (u32)data;
    say_hex("time stamp", ask(fs, 0x080D0144));
    say_number("  days since 2000", (u32)(*(u64 *)data / 86400000));
    say_hex("free", ask1(fs, 0x08490040, 1));
    say_number("  bytes of a cluster", m[3]);
    say_number("  clusters", m[5]);
    check(ask(fs, 0x08170000), "detected");
    say_number("  card is there", m[2]);
    check(ask(fs, 0x08180000), "writable");
    say_number("  card is writable", m[2]);
    list("/");
    say_hex("closed", (m[1] = archive, m[2] = 0, ask(fs, 0x080E0080)));
    say_hex("closed archive", open_file("/notes/first.txt", 1, &file));
    return 0;
}
