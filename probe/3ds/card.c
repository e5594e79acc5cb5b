#include "card.h"

enum { SDMC = 9, UTF16 = 4, READ = 1, WRITE = 2, CREATE = 4, ENTRY = 0x228, IS_FOLDER = 0x21C, NAME_UNITS = 0x106 };
static u32 fs, archive[2];

static u32 wide_path(u16 *to, u32 room, const char *path) { /* bytes, with the zero */
    u32 n = 0;
    do to[n] = (u8)path[n]; while (path[n++] && n < room);
    to[room - 1] = 0;
    return 2 * n;
}
bool card_begin(void) {
    u32 *m = message();
    if (!(fs = service("fs:USER"))) return false;
    m[1] = PROCESS_ID;
    if (failed(ask(fs, FS_INITIALIZE))) return false;
    m[1] = SDMC; m[2] = 1; m[3] = 1; m[4] = static_buffer(1, 0); m[5] = (u32)"";
    if (failed(ask(fs, FS_OPEN_ARCHIVE))) return false;
    archive[0] = m[2];
    archive[1] = m[3];
    return true;
}
bool file_open(struct file *file, const char *path, enum open how) {
    static u16 wide[256];
    u32 *m = message(), size = wide_path(wide, COUNT(wide), path);
    m[1] = 0; m[2] = archive[0]; m[3] = archive[1]; m[4] = UTF16; m[5] = size;
    m[6] = how == TO_READ ? READ : READ | WRITE | CREATE;
    m[7] = 0; m[8] = static_buffer(size, 0); m[9] = (u32)wide;
    if (failed(ask(fs, FS_OPEN_FILE))) return false;
    file->session = m[3];
    file->size = 0;
    m[1] = m[2] = 0;
    if (failed(ask(file->session, how == TO_REPLACE ? FILE_SET_SIZE : FILE_GET_SIZE))) {
        file_close(file);
        return false;
    }
    if (how != TO_REPLACE) file->size = m[3] ? 0xFFFFFFFFu : m[2];
    return true;
}
u32 file_read(struct file *file, u32 offset, void *to, u32 size) {
    u32 *m = message();
    m[1] = offset; m[2] = 0; m[3] = size; m[4] = writable(size); m[5] = (u32)to;
    return failed(ask(file->session, FILE_READ)) ? 0 : m[2];
}
bool file_write(struct file *file, const void *from, u32 size) {
    enum { FLUSH = 1 };
    u32 *m = message();
    if (!size) return true;
    m[1] = file->size; m[2] = 0; m[3] = size; m[4] = FLUSH; m[5] = readable(size); m[6] = (u32)from;
    if (failed(ask(file->session, FILE_WRITE)) || m[2] != size) return false;
    file->size += size;
    return true;
}
void file_close(struct file *file) {
    ask(file->session, FILE_CLOSE);
    close_handle(file->session);
}
void file_delete(const char *path) {
    static u16 wide[256];
    u32 *m = message(), size = wide_path(wide, COUNT(wide), path);
    m[1] = 0; m[2] = archive[0]; m[3] = archive[1]; m[4] = UTF16; m[5] = size;
    m[6] = static_buffer(size, 0); m[7] = (u32)wide;
    ask(fs, FS_DELETE_FILE);
}
u32 folder_list(const char *path, char *names, u32 room) {
    static u16 wide[256];
    static u8 entries[8 * ENTRY];
    u32 *m = message(), size = wide_path(wide, COUNT(wide), path), count = 0, used = 0;
    m[1] = archive[0]; m[2] = archive[1]; m[3] = UTF16; m[4] = size; m[5] = static_buffer(size, 0); m[6] = (u32)wide;
    if (failed(ask(fs, FS_OPEN_DIRECTORY))) return 0;
    u32 folder = m[3];
    for (;;) {
        m[1] = 8; m[2] = writable(sizeof entries); m[3] = (u32)entries;
        if (failed(ask(folder, DIRECTORY_READ)) || !m[2] || m[2] > 8) break;
        for (u32 n = 0, found = m[2]; n < found; n++) {
            const u8 *entry = entries + ENTRY * n;
            u32 length = 0;
            bool plain = !entry[IS_FOLDER];
            while (length < NAME_UNITS && (entry[2 * length] || entry[2 * length + 1])) {
                u8 low = entry[2 * length];
                plain = plain && !entry[2 * length + 1] && low > ' ' && low < 127;
                length++;
            }
            if (!plain || length > 128 || used + length + 1 > room) continue;
            for (u32 i = 0; i < length; i++) names[used++] = (char)entry[2 * i];
            names[used++] = 0;
            count++;
        }
    }
    ask(folder, DIRECTORY_CLOSE);
    close_handle(folder);
    return count;
}
