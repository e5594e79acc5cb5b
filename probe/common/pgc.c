#include "pgc.h"

enum { HEADER = 16, HEAD = 10, TAIL = 4 };
static const u8 MAGIC[8] = {0x89, 'P', 'G', 'C', '\r', '\n', 0x1A, '\n'};
static u32 word(const u8 *at) { return at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24; }

/* Reading. */
u8 *get_bytes(struct cursor *from, u64 size) {
    if (from->bad || size > (u64)(from->end - from->at)) { from->bad = true; return 0; }
    u8 *at = from->at;
    from->at += size;
    return at;
}
u8 get8(struct cursor *from) { u8 *at = get_bytes(from, 1); return at ? *at : 0; }
u32 get16(struct cursor *from) { u8 *at = get_bytes(from, 2); return at ? at[0] | (u32)at[1] << 8 : 0; }
u32 get32(struct cursor *from) { u8 *at = get_bytes(from, 4); return at ? word(at) : 0; }
u64 get_varint(struct cursor *from) {
    u64 value = 0;
    for (u32 n = 0; n < 10; n++) {
        u8 byte = get8(from);
        value |= (u64)(byte & 0x7F) << (7 * n);
        if (!(byte & 0x80)) return value;
    }
    from->bad = true;
    return 0;
}
u8 *get_block(struct cursor *from, u32 *size) {
    if (get_varint(from) != 1 || get_varint(from) != 0) from->bad = true;
    u64 bytes = get_varint(from);
    u8 *at = get_bytes(from, bytes);
    *size = at ? (u32)bytes : 0;
    return at;
}
bool pgc_is_foreign(const u8 *data, u32 size, u8 console) {
    return size >= HEADER && !memcmp(data, MAGIC, sizeof MAGIC) && crc32(0, data, 12) == word(data + 12) && data[9] != console;
}
const char *pgc_open(struct pgc *file, u8 *data, u32 size, u8 console) {
    file->data = data;
    file->size = size;
    if (size < HEADER || memcmp(data, MAGIC, sizeof MAGIC)) return "not a .pgc file";
    if (crc32(0, data, 12) != word(data + 12)) return "the header is damaged";
    if (data[8] != 1) return "a version of .pgc that this program does not know";
    if (data[9] != console) return "a file for another console";
    if (data[10] < 8 || data[10] > 32 || data[11] > 2) return "the header has values that no .pgc has";
    file->digest_size = data[10];
    file->check_size = 4 - data[11];
    u32 at = HEADER, sections = 0;
    for (;;) {
        if (size - at < HEAD + TAIL) return "the file is cut";
        u32 stored = word(data + at + 2), kind = data[at];
        if (stored > size - at - HEAD - TAIL) return "the file is cut, or the length of a section is damaged";
        if (crc32(0, data + at, HEAD + stored) != word(data + at + HEAD + stored)) return "the checksum of a section is wrong";
        if (data[at + 1] != STORED) return "a section is packed";
        if (word(data + at + 6) != stored) return "a section has two sizes";
        if (kind == SECTION_END) break;
        if (kind != SECTION_RECORDS) return "an unknown kind of section";
        sections++;
        at += HEAD + stored + TAIL;
    }
    if (word(data + at + 2) != 8 || word(data + at + HEAD + 4) != sections) return "the end does not fit the file";
    file->size = at + HEAD + 8 + TAIL;
    return 0;
}
bool pgc_section(const struct pgc *file, u32 *place, struct cursor *records) {
    u32 at = *place ? *place : HEADER;
    if (file->data[at] != SECTION_RECORDS) return false;
    u32 stored = word(file->data + at + 2);
    *records = (struct cursor){file->data + at + HEAD, file->data + at + HEAD + stored, false};
    *place = at + HEAD + stored + TAIL;
    return true;
}
void pgc_frame(const struct pgc *file, struct cursor *from) {
    u64 count = get_varint(from);
    for (u64 n = 0; n < count && !from->bad; n++) {
        get8(from);
        if (get8(from)) get_bytes(from, file->digest_size);
    }
    get_bytes(from, file->check_size);
}
struct span get_span(struct cursor *from) {
    u64 size = get_varint(from);
    const char *at = (const char *)get_bytes(from, size);
    return (struct span){at, at ? (u32)size : 0};
}
bool span_begins(struct span text, const char *part) {
    return text.size >= strlen(part) && !memcmp(text.at, part, strlen(part));
}
bool span_is(struct span text, const char *other) {
    return text.size == strlen(other) && !memcmp(text.at, other, text.size);
}
static int digit(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    return -1;
}
static void skip_separators(struct span *list) {
    while (list->size && (*list->at == ' ' || *list->at == ',')) list->at++, list->size--;
}
bool at_end(struct span list) {
    skip_separators(&list);
    return !list.size;
}
bool next_hex(struct span *list, u64 *value) {
    skip_separators(list);
    if (!list->size || digit(*list->at) < 0) return false;
    for (*value = 0; list->size && digit(*list->at) >= 0; list->at++, list->size--)
        *value = *value << 4 | (u64)digit(*list->at);
    return true;
}
char next_letter(struct span *list) {
    if (!list->size || *list->at == ' ' || *list->at == ',') return 0;
    list->size--;
    return *list->at++;
}

/* Writing. */
void sink_bytes(struct sink *to, const void *data, u32 size) {
    to->size += size;
    if (!to->take) return;
    to->crc = crc32(to->crc, data, size);
    to->check = crc32(to->check, data, size);
    to->take(to->user, data, size);
}
void sink8(struct sink *to, u32 value) { u8 byte = (u8)value; sink_bytes(to, &byte, 1); }
void sink32(struct sink *to, u32 value) {
    u8 bytes[4] = {(u8)value, (u8)(value >> 8), (u8)(value >> 16), (u8)(value >> 24)};
    sink_bytes(to, bytes, 4);
}
void sink_varint(struct sink *to, u64 value) {
    for (; value > 0x7F; value >>= 7) sink8(to, (value & 0x7F) | 0x80);
    sink8(to, (u32)value);
}
void sink_about(struct sink *to, const char *key, const char *value) {
    if (!*value) return;
    sink8(to, ABOUT);
    sink_varint(to, strlen(key));
    sink_bytes(to, key, (u32)strlen(key));
    sink_varint(to, strlen(value));
    sink_bytes(to, value, (u32)strlen(value));
}
void sink_check(struct sink *to) { sink32(to, to->check); }
static void head(struct sink *to, u32 kind, u32 size) {
    to->crc = 0;
    sink8(to, kind);
    sink8(to, STORED);
    sink32(to, size);
    sink32(to, size);
}
void sink_file(struct sink *to, u8 console, u32 frames, void (*records)(struct sink *, void *), void *user) {
    struct sink count = {0};
    records(&count, user);
    to->crc = 0;
    sink_bytes(to, MAGIC, sizeof MAGIC);
    sink_bytes(to, (u8[4]){1, console, 32, 0}, 4);
    sink32(to, to->crc);
    head(to, SECTION_RECORDS, count.size);
    to->check = 0;
    records(to, user);
    sink32(to, to->crc);
    head(to, SECTION_END, 8);
    sink32(to, frames);
    sink32(to, 1);
    sink32(to, to->crc);
}
