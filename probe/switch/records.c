#include "records.h"

void records_begin(struct records *from, const struct pgc *file) {
    struct cursor none = {0, 0, false};
    from->file = file;
    from->place = 0;
    from->at = none;
    from->wrong = 0;
}
/* Numbers with a limit: those of docs/formats/pgc.md, so that an answer, which repeats some of them, can be read. */
enum { FORMATS = 9, LAYOUTS = 2, BLOCK_HEIGHTS = 6, TRANSFORMS = 8, LARGEST_SIDE = 16384, CHANNELS = 256 };
static const u64 NUMBERS = 1ul << 32, ADDRESSES = 1ul << 40, ROWS = 1ul << 20;
static u64 below(struct cursor *at, u64 value, u64 end) {
    if (value >= end) at->bad = true;
    return value;
}
static u64 get_below(struct cursor *at, u64 end) { return below(at, get_varint(at), end); }
static void take_place(struct record *one, struct cursor *at) {
    one->place = (u32)below(at, get8(at), 2);
    one->handle = get_below(at, NUMBERS);
    one->offset = get_below(at, ADDRESSES);
}
static void take_present(struct record *one, struct cursor *at) {
    one->address = get_below(at, ADDRESSES);
    take_place(one, at);
    u64 width = get_below(at, LARGEST_SIDE + 1), height = get_below(at, LARGEST_SIDE + 1);
    if (!width || !height) at->bad = true;
    below(at, get8(at), FORMATS), below(at, get8(at), LAYOUTS), below(at, get8(at), BLOCK_HEIGHTS);
    get_below(at, ROWS);
    below(at, get8(at), TRANSFORMS);
    if (below(at, get8(at), 2)) get_below(at, NUMBERS), get_below(at, NUMBERS);
    if (one->kind == PRESENT_PART) get_below(at, width), get_below(at, height);
}
static const char *take(struct records *from, struct record *one, struct cursor *at) {
    u32 size;
    switch (one->kind) {
    case ABOUT:
        one->key = get_span(at);
        one->value = get_span(at);
        return 0;
    case COVERAGE: one->count = get_varint(at); return 0;
    case SYNCPOINT: get_below(at, NUMBERS), get_below(at, NUMBERS); return 0;
    case FRAME: pgc_frame(from->file, at); return 0;
    case MAP:
    case MAP_PART:
        one->id = get_below(at, NUMBERS), one->address = get_below(at, ADDRESSES), one->size = get_below(at, ADDRESSES);
        one->handle = get_below(at, NUMBERS);
        one->offset = one->kind == MAP_PART ? get_below(at, ADDRESSES) : 0;
        one->page_kind = get8(at);
        return 0;
    case UNMAP: one->id = get_below(at, NUMBERS); return 0;
    case STORE:
        take_place(one, at);
        one->address = get_below(at, ADDRESSES);
        one->data.at = get_block(at, &size);
        one->data.size = size;
        return 0;
    case SUBMIT:
        one->channel = get_below(at, CHANNELS), one->count = get_varint(at);
        if (one->count > (u64)(at->end - at->at) / 8) at->bad = true;
        else one->entries = get_bytes(at, 8 * one->count);
        return 0;
    case PRESENT:
    case PRESENT_PART: take_present(one, at); return 0;
    case STATE: return "state of channels cannot be set";
    default: return "there is a record that a Switch does not have";
    }
}
bool records_next(struct records *from, struct record *one) {
    struct cursor at;
    while (from->at.at == from->at.end)
        if (from->wrong || !pgc_section(from->file, &from->place, &from->at)) return false;
    at = from->at;
    memset(one, 0, sizeof *one);
    one->whole.at = at.at;
    one->kind = get8(&at);
    from->wrong = take(from, one, &at);
    if (!from->wrong && at.bad) from->wrong = "a record has other numbers than it may have, or ends after its section";
    if (from->wrong) {
        from->at.at = from->at.end;
        return false;
    }
    one->whole.size = (u64)(at.at - one->whole.at);
    from->at = at;
    if (!from->first && one->kind != ABOUT && one->kind != COVERAGE)
        from->first = one->whole.at;
    return true;
}
u8 *records_word(const struct records *from, u64 position) {
    struct cursor section;
    u32 place = 0;
    bool begun = false;
    while (from->first && pgc_section(from->file, &place, &section)) {
        u8 *start = section.at;
        if (!begun) {
            if (from->first < section.at || from->first >= section.end) continue;
            start = from->first;
            begun = true;
        }
        u64 size = (u64)(section.end - start);
        if (position < size) return size - position >= 4 ? start + position : 0;
        position -= size;
    }
    return 0;
}
