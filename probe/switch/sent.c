#include "sent.h"

enum { BITS_OF_ADDRESS = 40, BITS_OF_NUMBER = 8, SOON = 250, LATE = 6000 };    /* times: milliseconds */
enum { SLEEP = 10, SHORT_SLEEPS = 20 };

static int refuse(struct sent *one, const char *why) {
    struct text text = {one->reason, sizeof one->reason, 0};
    put(&text, why);
    return 1;
}
static int refuse_as(struct sent *one, const char *why, u64 value) {
    struct text text = {one->reason, sizeof one->reason, 0};
    put(&text, why);
    put(&text, " ");
    put_hex(&text, value, 1);
    return 1;
}

/* -- what the file says of itself -- */
static int take_ranges(struct sent *one, struct span text, struct range *to, u32 *count, u32 most, int pages) {
    u64 address, size, page = 0;
    while (next_hex(&text, &address)) {
        if (!next_hex(&text, &size) || (pages && !next_hex(&text, &page))) return refuse(one, "a range has too few numbers");
        if (address >> BITS_OF_ADDRESS || !size || size > (1ul << BITS_OF_ADDRESS) - address)
            return refuse_as(one, "a range leaves the address space:", address);
        if (pages && ((page != SMALL_PAGE && page != BIG_PAGE) || address % page || size % page))
            return refuse_as(one, "addresses of the file are no whole pages:", address);
        if (*count == most) return refuse(one, "the file has too many ranges");
        to[(*count)++] = (struct range){address, size, page};
    }
    return at_end(text) ? 0 : refuse(one, "a list of ranges has other letters than numbers have");
}
static int take_counters(struct sent *one, struct span text) {
    u64 id, start;
    while (next_hex(&text, &id)) {
        if (!next_hex(&text, &start)) return refuse(one, "a syncpoint has no value");
        if (one->counter_count == MOST_SYNCPOINTS) return refuse(one, "the file has too many syncpoints");
        one->counters[one->counter_count++] = (struct counter){.id = id, .start = start};
    }
    return at_end(text) ? 0 : refuse(one, "the list of syncpoints has other letters than numbers have");
}
static int take_about(struct sent *one, const struct record *about, int *version) {
    if (span_is(about->key, "probe")) *version = span_is(about->value, "1");
    else if (span_is(about->key, "probe.choice")) {
        if (about->value.size >= MOST_CHOICE) return refuse(one, "the name of the choice is too long");
        memcpy(one->choice, about->value.at, about->value.size);
    } else if (span_is(about->key, "probe.memory"))
        return take_ranges(one, about->value, one->ranges, &one->range_count, MOST_RANGES, 0);
    else if (span_is(about->key, "probe.space"))
        return take_ranges(one, about->value, one->spaces, &one->space_count, MOST_SPACES, 1);
    else if (span_is(about->key, "probe.syncpoint")) return take_counters(one, about->value);
    else if (span_is(about->key, "probe.relocate")) one->relocate = about->value;
    return 0;
}

/* -- memory -- */
static struct owner *owner_of(struct sent *one, u64 handle) {
    for (u32 n = 0; n < one->owner_count; n++)
        if (one->owners[n].number == handle) return one->owners + n;
    return 0;
}
static struct range *space_of(struct sent *one, u64 address, u64 size) {
    for (u32 n = 0; n < one->space_count; n++) {
        struct range *space = one->spaces + n;
        if (address >= space->address && size <= space->size && address - space->address <= space->size - size) return space;
    }
    return 0;
}
int sent_at(struct sent *one, u64 address, u8 **at, u64 *size) {
    for (u32 n = one->map_count; n--;) {
        struct map *map = one->maps + n;
        if (!map->live || address < map->address || address >= map->address + map->size) continue;
        *size = map->size - (address - map->address);
        *at = owner_of(one, map->handle)->memory.at + map->offset + (address - map->address);
        return 1;
    }
    return 0;
}
/* A mapping of the file: checked and noted in the first pass, when sizes of memory become known. */
static int note_map(struct sent *one, const struct record *map) {
    u64 limit = 1ul << 32;
    if ((map->address | map->size | map->offset) % SMALL_PAGE || !map->size || map->size > limit || map->offset > limit)
        return refuse_as(one, "a mapping is not of whole pages:", map->address);
    struct range *space = space_of(one, map->address, map->size);
    if (!space || map->address % space->page)
        return refuse_as(one, "a mapping is outside of the file's addresses:", map->address);
    if (map->offset % space->page) return refuse_as(one, "a mapping begins inside of a page:", map->address);
    struct owner *owner = owner_of(one, map->handle);
    if (!owner) {
        if (one->owner_count == MOST_HANDLES) return refuse(one, "the file has too many memory objects");
        owner = one->owners + one->owner_count++;
        *owner = (struct owner){.number = map->handle};
    }
    u64 end = map->offset + map->size;
    end += -end % OBJECT_STEP;
    if (end > owner->memory.size) one->total += end - owner->memory.size, owner->memory.size = end;
    return 0;
}
static int begin_map(struct sent *one, const struct record *map, int dry) {
    for (u32 n = 0; n < one->map_count; n++)
        if (one->maps[n].live && one->maps[n].id == map->id)
            return refuse_as(one, "two mappings have the same number:", map->id);
    u32 n = 0;
    while (n < one->map_count && one->maps[n].live) n++;
    if (n == MOST_MAPS) return refuse(one, "the file has too many mappings");
    struct range *space = space_of(one, map->address, map->size);
    struct owner *owner = owner_of(one, map->handle);
    /* Words that depend on syncpoints may have changed the record since it was noted. */
    if (!space || !owner || map->offset > owner->memory.size || map->size > owner->memory.size - map->offset)
        return refuse_as(one, "a mapping has changed:", map->address);
    if (n == one->map_count) one->map_count++;
    one->maps[n] = (struct map){map->id, map->address, map->size, map->handle, map->offset, map->page_kind, 1};
    if (!dry && gpu_map(&owner->memory, map->offset, map->size, map->page_kind, (u32)space->page, map->address)) {
        one->maps[n].live = 0;
        return refuse(one, gpu_why);
    }
    return 0;
}
static int end_map(struct sent *one, u64 id, int dry) {
    for (u32 n = 0; n < one->map_count; n++) {
        struct map *map = one->maps + n;
        if (!map->live || map->id != id) continue;
        map->live = 0;
        return !dry && gpu_unmap(map->address) ? refuse(one, gpu_why) : 0;
    }
    return refuse_as(one, "a mapping ends that did not begin:", id);
}
static int store(struct sent *one, const struct record *what, int dry) {
    struct block data = what->data;
    if (what->place) {
        struct owner *owner = owner_of(one, what->handle);
        if (!owner || what->offset > owner->memory.size || data.size > owner->memory.size - what->offset)
            return refuse_as(one, "a store is outside of memory:", what->handle);
        if (!dry) memcpy(owner->memory.at + what->offset, data.at, data.size);
        return 0;
    }
    for (u64 address = what->address, left; data.size; address += left, data.at += left, data.size -= left) {
        u8 *to;
        if (!sent_at(one, address, &to, &left)) return refuse_as(one, "a store is where nothing is mapped:", address);
        if (left > data.size) left = data.size;
        if (!dry) memcpy(to, data.at, left);
    }
    return 0;
}

/* -- work -- */
static int wait_for_work(struct channel *channel, u32 milliseconds) {
    u32 slept = 0;
    for (u32 n = 0; !gpu_reached(channel); n++) {
        if (slept >= milliseconds) return 0;
        u32 time = n < SHORT_SLEEPS ? 1 : SLEEP;
        sleep_milliseconds(time);
        slept += time;
    }
    return 1;
}
static void put_channel(struct text *to, const struct channel *channel) {
    put_comma(to);
    put(to, "CHANNEL");
    put_number(to, (u32)channel->number);
}
/* What the driver says of a channel: a code. */
static void note_error(struct sent *one, const struct channel *channel) {
    struct text text = {one->errors, sizeof one->errors, (u32)strlen(one->errors)};
    u32 code = gpu_error(channel);
    if (!code) return;
    put_channel(&text, channel);
    put_letter(&text, ' ');
    put_number(&text, code);
}
static void note_hung(struct sent *one, const struct channel *channel, u32 frame, u64 event) {
    struct text text = {one->hung, sizeof one->hung, (u32)strlen(one->hung)};
    put_channel(&text, channel);
    put(&text, " f");
    put_number(&text, frame);
    put(&text, "/e");
    put_number(&text, (u32)event);
}
static int submit(struct sent *one, const struct record *what, u32 frame, u64 event, int dry) {
    struct channel *channel = one->channels;
    while (channel < one->channels + one->channel_count && channel->number != what->channel) channel++;
    if (channel == one->channels + one->channel_count) {
        if (one->channel_count == MOST_CHANNELS) return refuse(one, "the file has too many channels");
        *channel = (struct channel){.number = what->channel};
        one->channel_count++;
    }
    if (what->count > MOST_ENTRIES) return refuse_as(one, "a submission has too many entries:", what->count);
    if (dry || channel->ended) return 0;
    if (!channel->device && gpu_channel(channel)) return refuse(one, gpu_why);
    if (gpu_submit(channel, what->entries, (u32)what->count)) {
        channel->ended = gpu_error(channel) != 0;          /* the driver takes no more work for it */
        return channel->ended ? 0 : refuse(one, gpu_why);
    }
    /* What waits may be released by what comes later. */
    if (!channel->waits && !wait_for_work(channel, SOON)) channel->waits = 1, channel->frame = frame, channel->event = event;
    return 0;
}
static int events(struct sent *one, int dry) {
    struct record next;
    u32 frame = 0;
    u64 event = 0;
    int wrong = 0;
    records_begin(&one->records, &one->file);
    one->map_count = 0;
    while (!wrong && records_next(&one->records, &next)) {
        switch (next.kind) {
        case MAP:
        case MAP_PART: wrong = begin_map(one, &next, dry); break;
        case UNMAP: wrong = end_map(one, next.id, dry); break;
        case STORE: wrong = store(one, &next, dry); break;
        case SUBMIT: wrong = submit(one, &next, frame, event, dry); break;
        case PRESENT:
        case PRESENT_PART: one->present = next.whole; break;
        case FRAME: frame++, event = 0; continue;
        default: continue;
        }
        event++;
    }
    if (!wrong && one->records.wrong) wrong = refuse(one, one->records.wrong);
    return wrong;
}

/* Words that depend on syncpoints: a position, a letter, which of the file's syncpoints. docs/formats/probe.md */
static int relocate(struct sent *one, int dry) {
    struct span text = one->relocate;
    u64 position, which;
    while (next_hex(&text, &position)) {
        char letter = next_letter(&text);
        u8 *at = records_word(&one->records, position);
        if (!next_hex(&text, &which) || which >= one->counter_count) return refuse(one, "a word is of no known syncpoint");
        if (!at) return refuse_as(one, "a word lies outside of the file:", position);
        bool number = letter == WORD_HOST_NUMBER || letter == WORD_ENGINE_NUMBER;
        if (!number && letter != WORD_THRESHOLD && letter != WORD_REACHED) return refuse(one, "a word is of an unknown kind");
        if (dry) continue;
        struct counter *counter = one->counters + which;
        u32 shift = letter == WORD_HOST_NUMBER ? HOST_INDEX_SHIFT : 0, mask = ((1u << BITS_OF_NUMBER) - 1) << shift, word;
        memcpy(&word, at, 4);
        if (number) word = (word & ~mask) | (counter->real.syncpoint << shift & mask);
        else if (letter == WORD_THRESHOLD) word += counter->real.fence - (u32)counter->start;
        else word = counter->real.fence;
        memcpy(at, &word, 4);
    }
    return at_end(text) ? 0 : refuse(one, "the list of words has other letters than it may have");
}

int sent_check(struct sent *one, u8 *data, u32 size) {
    struct record next;
    int version = 0;
    memset(one, 0, sizeof *one);
    const char *wrong = pgc_open(&one->file, data, size, CONSOLE_SWITCH);
    if (wrong) return refuse(one, wrong);
    records_begin(&one->records, &one->file);
    while (records_next(&one->records, &next)) {
        if (next.kind == ABOUT && take_about(one, &next, &version)) return 1;
        if (next.kind == COVERAGE) one->coverage = next.count;
        if ((next.kind == MAP || next.kind == MAP_PART) && note_map(one, &next)) return 1;
    }
    if (one->records.wrong) return refuse(one, one->records.wrong);
    if (!version) return refuse(one, "it is no file for a probe, or of another version");
    if (events(one, 1)) return 1;
    if (relocate(one, 1)) return 1;
    for (u32 n = 0; n < one->range_count; n++) {
        struct range range = one->ranges[n];
        one->to_read += range.size;
        u8 *at;
        for (u64 left; range.size; range.address += left, range.size -= left) {
            if (!sent_at(one, range.address, &at, &left))
                return refuse_as(one, "memory is to be read that is not mapped:", range.address);
            if (left > range.size) left = range.size;
        }
    }
    one->map_count = 0;
    return 0;
}

int sent_run(struct sent *one, u8 *memory) {
    for (u32 n = 0; n < one->space_count; n++)
        if (gpu_reserve(one->spaces[n].address, one->spaces[n].size, (u32)one->spaces[n].page)) return refuse(one, gpu_why);
    for (u32 n = 0; n < one->owner_count; n++) {
        struct object *object = &one->owners[n].memory;
        object->at = memory;
        memory += object->size;
        if (gpu_object(object)) return refuse(one, gpu_why);
    }
    for (u32 n = 0; n < one->counter_count; n++) {
        struct channel *real = &one->counters[n].real;
        if (gpu_channel(real)) return refuse(one, gpu_why);
        if (gpu_value(real->syncpoint, &real->fence)) return refuse(one, gpu_why);
    }
    if (relocate(one, 0) || events(one, 0)) return 1;
    for (u32 n = 0; n < one->channel_count; n++) {
        struct channel *channel = one->channels + n;
        if (channel->waits && (!wait_for_work(channel, LATE) || gpu_error(channel)))
            note_hung(one, channel, channel->frame, channel->event);
        note_error(one, channel);
    }
    __asm__ volatile("dsb sy" : : : "memory");
    return 0;
}

void sent_close(struct sent *one) {
    for (u32 n = 0; n < one->channel_count; n++) gpu_close(&one->channels[n]);
    for (u32 n = 0; n < one->counter_count; n++) gpu_close(&one->counters[n].real);
    for (u32 n = 0; n < one->map_count; n++)
        if (one->maps[n].live) gpu_unmap(one->maps[n].address);
    gpu_end();
    for (u32 n = 0; n < one->owner_count; n++) gpu_release(&one->owners[n].memory);
}
