#include "sent.h"

bool in_main(const struct sent *sent, u32 address, u64 size) {
    return address >= sent->main.at && address - sent->main.at + size <= sent->main.size;
}
bool in_video(u32 address, u64 size) { return address >= VRAM_PHYSICAL && address - VRAM_PHYSICAL + size <= VRAM_BYTES; }
bool in_table(const u32 (*table)[2], u32 rows, u32 address) {
    for (u32 n = 0; n < rows; n++)
        if (address >= table[n][0] && address < table[n][1]) return !(address & 3);
    return false;
}

/* -- what the ABOUT records say ------------------------------------------------------------------------------------- */
static bool pair(struct span *list, struct range *to) {
    u64 at, size;
    if (!next_hex(list, &at) || !next_hex(list, &size) || at >> 32 || size >> 32) return false;
    *to = (struct range){(u32)at, (u32)size};
    return true;
}
static const char *about(struct sent *sent, struct span key, struct span value) {
    u64 number;
    if (span_is(key, "probe") && !span_is(value, "1")) return "a version of the probe's files that this program does not know";
    if (span_is(key, "probe.answer")) sent->is_answer = true;
    if (span_is(key, "probe.choice")) sent->choice = value;
    if (span_is(key, "probe.relocate")) sent->relocate = value;
    if (span_is(key, "probe.look")) sent->look = value;
    if (span_is(key, "probe.look.text")) sent->look_text = value;
    if (span_is(key, "probe.main") && (!pair(&value, &sent->main) || (sent->main.at | sent->main.size) & 0xFFF))
        return "probe.main is no range of whole pages";
    if (span_is(key, "probe.memory"))
        while (value.size) {
            if (sent->memories == MOST_RANGES) return "more than 64 ranges to read";
            if (!pair(&value, &sent->memory[sent->memories++])) return "probe.memory is no list of ranges";
        }
    if (span_is(key, "probe.register"))
        while (value.size) {
            if (sent->register_count == MOST_REGISTERS) return "more than 64 registers to read";
            if (!next_hex(&value, &number) || number >> 32) return "probe.register is no list of addresses";
            sent->registers[sent->register_count++] = (u32)number;
        }
    return 0;
}
static const char *read_about(struct sent *sent, u64 *first) { /* first: the position of the first other record */
    struct cursor at;
    u32 place = 0;
    u64 position = 0;
    while (pgc_section(&sent->file, &place, &at)) {
        u8 *begin = at.at;
        while (at.at < at.end) {
            u8 *record = at.at;
            u8 type = get8(&at);
            if (type == ABOUT) {
                struct span key = get_span(&at), value = get_span(&at);
                if (at.bad) return "a record is cut";
                const char *reason = about(sent, key, value);
                if (reason) return reason;
            } else if (type == COVERAGE) {
                sent->coverage = get_varint(&at);
                if (at.bad) return "a record is cut";
            } else {
                *first = position + (u64)(record - begin);
                return 0;
            }
        }
        position += (u64)(at.end - begin);
    }
    *first = position;
    return 0;
}

/* -- words that are moved ------------------------------------------------------------------------------------------- */
static u8 *stream_word(const struct sent *sent, u64 position) {
    struct cursor at;
    u32 place = 0;
    while (pgc_section(&sent->file, &place, &at)) {
        u64 size = (u64)(at.end - at.at);
        if (position < size) return position + 4 <= size ? at.at + position : 0;
        position -= size;
    }
    return 0;
}
static const char *relocate(struct sent *sent, u64 first) {
    enum { UNIT = 8, FACE_BITS = (1 << 22) - 1 };
    struct span list = sent->relocate;
    /* Virtual addresses of the file are those of the usual table. */
    u32 far = sent->distance + sent->linear - (FCRAM_VIRTUAL - FCRAM_PHYSICAL);
    while (list.size) {
        u64 position;
        if (!next_hex(&list, &position)) return "probe.relocate is no list of places";
        u8 *at = stream_word(sent, first + position);
        if (!at || position >> 32) return "a word to move is outside of the file";
        u32 word = at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24;
        switch (next_letter(&list)) {
        case 'p': word += sent->distance; break;
        case 'u': word += (u32)((s32)sent->distance / UNIT); break;
        case 't': word = (word & ~(u32)FACE_BITS) | ((word + (u32)((s32)sent->distance / UNIT)) & FACE_BITS); break;
        case 'v': word += far; break;
        default: return "a word to move has an unknown kind";
        }
        for (u32 n = 0; n < 4; n++) at[n] = (u8)(word >> 8 * n);
    }
    return 0;
}

/* -- events --------------------------------------------------------------------------------------------------------- */
static const char *visited(struct sent *sent, struct event *event, visitor *visit) {
    const char *reason = visit(sent, event);
    event->count++;
    return reason;
}
static const char *write_events(struct sent *sent, struct cursor *at, struct event *event, enum kind kind, visitor *visit) {
    u64 count = get_varint(at);
    event->kind = kind;
    event->mask = 0xFFFFFFFFu;
    for (u64 n = 0; n < count && !at->bad; n++) {
        event->address = get32(at);
        event->value = get32(at);
        const char *reason = at->bad ? 0 : visited(sent, event, visit);
        if (reason) return reason;
        if (kind == EVENT_WRITE) event->number++;
    }
    return 0;
}
static const char *narrow_event(struct sent *sent, struct cursor *at, struct event *event, u32 bits, visitor *visit) {
    u32 address = get32(at), value = bits == 8 ? get8(at) : get16(at), shift = 8 * (address & 3);
    event->kind = EVENT_WRITE;
    event->address = address & ~3u;
    event->mask = ((1u << bits) - 1) << shift;
    event->value = value << shift;
    return at->bad ? 0 : visited(sent, event, visit);
}
static const char *record_events(struct sent *sent, u8 type, struct cursor *at, struct event *event, visitor *visit) {
    const char *reason = 0;
    switch (type) {
    case WRITES: return write_events(sent, at, event, EVENT_WRITE, visit);
    case FRAME:
        pgc_frame(&sent->file, at);
        event->kind = EVENT_FRAME;
        if (!at->bad) reason = visited(sent, event, visit);
        event->frame++;
        event->number = 0;
        return reason;
    case LOAD:
        event->kind = EVENT_LOAD;
        event->address = get32(at);
        event->data = get_block(at, &event->size);
        if (!at->bad) reason = visited(sent, event, visit);
        break;
    case WRITE8: reason = narrow_event(sent, at, event, 8, visit); break;
    case WRITE16: reason = narrow_event(sent, at, event, 16, visit); break;
    case GX:
        event->kind = EVENT_COMMAND;
        for (u32 n = 0; n < 8; n++) event->words[n] = get32(at);
        if (!at->bad) reason = visited(sent, event, visit);
        break;
    case SWAP:
        event->kind = EVENT_ENTRY;
        event->address = get8(at);
        for (u32 n = 0; n < 7; n++) event->words[n] = get32(at);
        if (!at->bad) reason = visited(sent, event, visit);
        if (!reason) reason = write_events(sent, at, event, EVENT_SHOWN, visit);
        break;
    default: return "a record that a sent file must not have";
    }
    event->number++;
    return reason;
}
const char *sent_walk(struct sent *sent, visitor *visit) {
    struct cursor at;
    struct event event = {0};
    u32 place = 0;
    while (pgc_section(&sent->file, &place, &at))
        while (at.at < at.end) {
            u8 type = get8(&at);
            const char *reason = 0;
            if (type == ABOUT) get_span(&at), get_span(&at);
            else if (type == COVERAGE) get_varint(&at);
            else reason = record_events(sent, type, &at, &event, visit);
            if (reason) return reason;
            if (at.bad) return "a record is cut, or data is not one new block";
        }
    return 0;
}
static const char *check(struct sent *sent, const struct event *event) {
    sent->last = event->count;
    switch (event->kind) {
    case EVENT_LOAD:
        if (!in_main(sent, event->address, event->size) && !in_video(event->address, event->size)) return "a load outside of its memory";
        break;
    case EVENT_ENTRY:
        if (event->address > 1) return "a framebuffer for a screen that is not there";
        break;
    case EVENT_WRITE:
    case EVENT_SHOWN:
        if (!in_table(WRITTEN, COUNT(WRITTEN), event->address)) return "a write to a register that is left alone";
        break;
    case EVENT_COMMAND:
        if ((event->words[0] & 255) >= COMMANDS) return "an unknown GX command";
        break;
    case EVENT_FRAME: sent->frames++; break;
    }
    return 0;
}

static bool overlap(struct range one, struct range other) {
    return one.at < (u64)other.at + other.size && other.at < (u64)one.at + one.size;
}
const char *sent_open(struct sent *sent, u8 *data, u32 size, struct range room, u32 linear) {
    u64 first;
    *sent = (struct sent){0};
    const char *reason = pgc_open(&sent->file, data, size, CONSOLE_3DS);
    if (!reason) reason = read_about(sent, &first);
    if (reason || sent->is_answer) return reason;
    if (sent->main.size > room.size) return "it needs more main memory than there is";
    if (sent->main.size && (sent->main.at < FCRAM_PHYSICAL || sent->main.at - FCRAM_PHYSICAL > FCRAM_BYTES - sent->main.size))
        return "probe.main is not in main memory";
    sent->distance = sent->main.size ? room.at - sent->main.at : 0;
    sent->linear = linear;
    if (!sent->main.size) sent->relocate.size = 0;
    for (u32 n = 0; n < sent->memories; n++)
        if (!in_main(sent, sent->memory[n].at, sent->memory[n].size) && !in_video(sent->memory[n].at, sent->memory[n].size))
            return "memory to read that is not its own";
    /* So there is no more to read than there is memory. */
    for (u32 n = 0; n < sent->memories; n++)
        for (u32 other = 0; other < n; other++)
            if (overlap(sent->memory[n], sent->memory[other])) return "memory to read that is named twice";
    for (u32 n = 0; n < sent->register_count; n++)
        if (!in_table(READABLE, COUNT(READABLE), sent->registers[n])) return "a register that cannot be read";
    reason = relocate(sent, first);
    return reason ? reason : sent_walk(sent, check);
}
