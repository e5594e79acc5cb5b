#include "records.h"

void records_begin(struct records *from, const struct pgc *file) {
    struct cursor none = {0, 0, false};
    from->file = file;
    from->place = 0;
    from->at = none;
    from->wrong = 0;
}
static void take_present(struct record *one, struct cursor *at) {
    enum { NUMBERS_OF_PLACE = 4, BYTES_OF_LAYOUT = 3 };    /* handle, offset, width, height; format, layout, height of blocks */
    one->address = get_varint(at);
    one->place = get8(at);
    for (u32 n = 0; n < NUMBERS_OF_PLACE; n++) get_varint(at);
    get_bytes(at, BYTES_OF_LAYOUT);
    get_varint(at);
    get8(at);
    if (get8(at)) get_varint(at), get_varint(at);
    if (one->kind == PRESENT_PART) get_varint(at), get_varint(at);
}
static const char *take(struct records *from, struct record *one, struct cursor *at) {
    u32 size;
    switch (one->kind) {
    case ABOUT:
        one->key = get_span(at);
        one->value = get_span(at);
        return 0;
    case COVERAGE: one->count = get_varint(at); return 0;
    case SYNCPOINT: get_varint(at), get_varint(at); return 0;
    case FRAME: pgc_frame(from->file, at); return 0;
    case MAP:
    case MAP_PART:
        one->id = get_varint(at), one->address = get_varint(at), one->size = get_varint(at);
        one->handle = get_varint(at);
        one->offset = one->kind == MAP_PART ? get_varint(at) : 0;
        one->page_kind = get8(at);
        return 0;
    case UNMAP: one->id = get_varint(at); return 0;
    case STORE:
        one->place = get8(at);
        one->handle = get_varint(at), one->offset = get_varint(at), one->address = get_varint(at);
        one->data.at = get_block(at, &size);
        one->data.size = size;
        return 0;
    case SUBMIT:
        one->channel = get_varint(at), one->count = get_varint(at);
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
