/* The probe of the Switch: runs the files in /pocketgpu-probe on this console's GPU, and writes what they left behind
 * beside them. docs/formats/probe.md describes the files. Licence: 0BSD. */
#include "card.h"
#include "screen.h"
#include "sent.h"

#define FOLDER "/pocketgpu-probe"
#define SENT ".pgc"
#define ANSWER ".answer.pgc"
enum { TRANSFER = 0x800000, MOST_NAMES = 0x10000, MOST_LOG = 0x10000, MOST_VALUE = 256, MOST_LOADER = 64 };
enum { PIECE = 4 << 20, HEADS = 0x20000, LEAST = 0x1000000, FAILED = 1, TIME_TO_READ = 10000 };

static u8 *room, *room_end;                                /* memory for one file at a time */
static char names[MOST_NAMES], log_text[MOST_LOG];
static u32 log_size;
static struct sent sent;

static u64 up(u64 size, u64 unit) { return (size + unit - 1) / unit * unit; }
static void set_path(struct text *path, const char *name, const char *ending) {
    clear(path);
    put(path, FOLDER "/");
    put(path, name);
    put(path, ending);
}

/* -- the log, and the file that runs -- */
static void note(const char *name, const char *what) {
    struct text log = {log_text, sizeof log_text, log_size};
    put(&log, name);
    put(&log, ": ");
    put(&log, what);
    screen_line(log_text + log_size);
    put(&log, "\n");
    say(log_text + log_size);
    log_size = log.size;
    card_write(FOLDER "/log.txt", log_text, log_size);
}
static u32 read_text(const char *path, char *to, u32 most) {
    u64 size = 0;
    if (card_size(path, &size) || size >= most || card_read(path, to, size)) size = 0;
    to[size] = 0;
    return (u32)size;
}
static void set_running(const char *name) { card_write(FOLDER "/running.txt", name, strlen(name)); }

/* -- answers -- */
struct answer { const char *digest, *end; u8 *at; };
static void put_about(struct sink *to, const struct answer *one) {
    TEXT(console, MOST_VALUE);
    u64 version = entry_value(ENTRY_VERSION, 0);           /* of the system: a byte each */
    clear(&console);
    u32 size;
    struct span loader = {loader_text(&size), 0};
    loader.size = size;
    if (span_begins(loader, "pocketgpu ")) {
        for (u32 n = 0; n < loader.size && n < MOST_LOADER; n++) put_letter(&console, loader.at[n]);
        put(&console, ", emulating a ");
    }
    put(&console, "Switch, system ");
    for (u32 n = 0; n < 3; n++) {
        if (n) put_letter(&console, '.');
        put_number(&console, (u32)(version >> (16 - 8 * n)) & 0xFF);
    }
    sink_about(to, "probe.answer", "1");
    sink_about(to, "probe.choice", sent.choice);
    sink_about(to, "probe.sent", one->digest);
    sink_about(to, "probe.console", console.at);
    sink_about(to, "probe.program", PROGRAM);
    sink_about(to, "probe.end", one->end);
    sink_about(to, "probe.hung", sent.hung);
    sink_about(to, "probe.errors", sent.errors);
    sink8(to, COVERAGE);
    sink_varint(to, sent.coverage & ~(u64)PICTURES_COVERED);
}
static void put_memory(struct sink *to) {
    for (u32 n = 0; n < sent.map_count; n++) {
        struct map *map = sent.maps + n;
        if (!map->live) continue;
        sink8(to, map->offset ? MAP_PART : MAP);
        sink_varint(to, map->id), sink_varint(to, map->address), sink_varint(to, map->size), sink_varint(to, map->handle);
        if (map->offset) sink_varint(to, map->offset);
        sink8(to, map->kind);
    }
    for (u32 n = 0; n < sent.range_count; n++) {
        struct range range = sent.ranges[n];
        sink8(to, STORE);
        sink8(to, 0), sink_varint(to, 0), sink_varint(to, 0); /* at the GPU address */
        sink_varint(to, range.address);
        sink_varint(to, 1), sink_varint(to, 0);            /* one piece, a new block */
        sink_varint(to, range.size);
        u8 *at;
        for (u64 left; range.size && sent_at(&sent, range.address, &at, &left); range.address += left, range.size -= left) {
            if (left > range.size) left = range.size;
            sink_bytes(to, at, (u32)left);
        }
    }
    if (!sent.present.size) return;
    sink_bytes(to, sent.present.at, (u32)sent.present.size);
    sink8(to, FRAME);
    sink_varint(to, 0);                                    /* no digests: the picture is in memory */
    sink_check(to);
}
static void put_records(struct sink *to, void *user) {
    const struct answer *one = user;
    put_about(to, one);
    if (equal(one->end, "finished")) put_memory(to);
}
static void take(void *user, const void *data, u32 size) {
    struct answer *one = user;
    memcpy(one->at, data, size);
    one->at += size;
}
/* Into the memory at `room`, where there is enough. */
static void write_answer(const char *name, const char *digest, const char *end) {
    TEXT(path, MOST_PATH);
    struct answer one = {digest, end, room};
    struct sink to = {.take = take, .user = &one};
    bool shown = equal(end, "finished") && sent.present.size;
    sink_file(&to, CONSOLE_SWITCH, shown, put_records, &one);
    set_path(&path, name, ANSWER);
    if (card_write(path.at, room, (u64)(one.at - room))) note(name, "its answer cannot be written");
}
/* Whether there is an answer to just this file. */
static bool answered(const char *name, const char *digest) {
    TEXT(path, MOST_PATH);
    struct pgc file;
    struct records from = {0};
    struct record one;
    u64 size = 0;
    set_path(&path, name, ANSWER);
    if (card_size(path.at, &size) || size > (u64)(room_end - room) || card_read(path.at, room, size)) return false;
    if (pgc_open(&file, room, (u32)size, CONSOLE_SWITCH)) return false;
    records_begin(&from, &file);
    while (records_next(&from, &one))
        if (one.kind == ABOUT && span_is(one.key, "probe.sent")) return span_is(one.value, digest);
    return false;
}

/* -- one file -- */
static void refused(const char *name, const char *digest, const char *why) {
    TEXT(end, MOST_VALUE);
    clear(&end);
    put(&end, "refused: ");
    put(&end, why);
    note(name, end.at);
    write_answer(name, digest, end.at);
}
/* The file lies at room_end. Its answer comes to room, its memory between the two. */
static void run_checked(const char *name, const char *digest) {
    u64 for_answer = up((u64)room + sent.to_read + HEADS, OBJECT_STEP) - (u64)room;
    u64 wanted = for_answer + OBJECT_STEP + sent.total;
    u8 *commands = room + for_answer;
    if (wanted > (u64)(room_end - room)) {
        refused(name, digest, "it needs more memory than there is");
        return;
    }
    set_running(name);
    note(name, "begins");
    screen_show();
    if (gpu_begin(commands)) refused(name, digest, gpu_why);
    else if (sent_run(&sent, commands + OBJECT_STEP)) refused(name, digest, sent.reason);
    else {
        write_answer(name, digest, "finished");
        TEXT(told, 2 * MOST_TOLD + 64);
        clear(&told);
        put(&told, "finished");
        if (sent.hung[0]) { put(&told, ", hung: "); put(&told, sent.hung); }
        if (sent.errors[0]) { put(&told, ", errors: "); put(&told, sent.errors); }
        note(name, told.at);
    }
    sent_close(&sent);
    set_running("");
}
/* Of a file for which there is not enough memory. */
static u32 digest_in_pieces(const char *path, u64 size, struct text *to) {
    struct sha256 sum;
    u8 raw[32];
    u32 result = 0;
    sha256_begin(&sum);
    for (u64 at = 0, part; at < size && !result; at += part) {
        part = size - at < PIECE ? size - at : PIECE;
        result = card_read_part(path, at, room, part);
        if (!result) sha256_add(&sum, room, (u32)part);
    }
    sha256_end(&sum, raw);
    clear(to);
    put_digest(to, raw);
    return result;
}
static bool foreign(const char *path) {
    enum { ENOUGH = 16 };
    return !card_read_part(path, 0, room, ENOUGH) && pgc_is_foreign(room, ENOUGH, CONSOLE_SWITCH);
}
static void run_file(const char *name, bool hung) {
    TEXT(path, MOST_PATH);
    TEXT(digest, 2 * 32 + 1);
    struct sha256 sum;
    u8 raw[32], *whole = room_end;
    u64 size = 0;
    sent.choice[0] = sent.hung[0] = sent.errors[0] = 0;
    set_path(&path, name, SENT);
    u32 result = card_size(path.at, &size);
    if (result || size > MOST_FILE || up(size, SMALL_PAGE) > (u64)(room_end - room)) {
        if (result || digest_in_pieces(path.at, size, &digest)) note(name, "the card does not give it");
        else if (foreign(path.at)) note(name, "skipped, as it is for another console");
        else if (answered(name, digest.at)) note(name, "answered before");
        else refused(name, digest.at, "it is too large");
        return;
    }
    room_end -= up(size, SMALL_PAGE);
    if (card_read(path.at, room_end, size)) note(name, "the card does not give it");
    else {
        sha256_begin(&sum);
        sha256_add(&sum, room_end, (u32)size);
        sha256_end(&sum, raw);
        clear(&digest);
        put_digest(&digest, raw);
        if (pgc_is_foreign(room_end, (u32)size, CONSOLE_SWITCH)) note(name, "skipped, as it is for another console");
        else if (answered(name, digest.at)) note(name, "answered before");
        else if (sent_check(&sent, room_end, (u32)size)) refused(name, digest.at, sent.reason);
        else if (hung) {
            note(name, "no answer, as the console hung in it");
            write_answer(name, digest.at, "no answer");
        } else run_checked(name, digest.at);
    }
    room_end = whole;
}

static void quit(void) {
    screen_end();
    gpu_quit();
    card_close();
    close_services();
}
static u32 run_all(void) {
    static char hung[MOST_PATH], name[MOST_PATH];
    u32 count;
    u64 heap = up(entry_value(ENTRY_HEAP, 0), OBJECT_STEP), end = entry_value(ENTRY_HEAP, 0) + entry_value(ENTRY_HEAP, 1);
    if (heap + TRANSFER + SCREEN_BYTES + LEAST > end) { say("the probe: there is too little memory\n"); return FAILED; }
    room = (u8 *)heap + TRANSFER + SCREEN_BYTES;
    room_end = (u8 *)(end / OBJECT_STEP * OBJECT_STEP);
    if (card_open()) { say("the probe: there is no memory card\n"); return FAILED; }
    if (card_list(FOLDER, names, sizeof names, &count)) { say("the probe: the card has no folder " FOLDER "\n"); return FAILED; }
    log_size = read_text(FOLDER "/log.txt", log_text, sizeof log_text / 2);
    read_text(FOLDER "/running.txt", hung, sizeof hung);
    if (gpu_open((void *)heap, TRANSFER)) { note("the probe", gpu_why); return FAILED; }
    screen_begin((u8 *)heap + TRANSFER);
    note("the probe", PROGRAM);
    for (char *at = names; count--; at += strlen(at) + 1) {
        struct text text = {name, sizeof name, 0};
        if (!ends(at, SENT) || ends(at, ANSWER)) continue;
        put(&text, at);
        name[text.size - strlen(SENT)] = 0;
        run_file(name, equal(name, hung));
    }
    set_running("");
    note("the probe", "the end");
    screen_show();
    sleep_milliseconds(TIME_TO_READ);
    return 0;
}
int main(void) {
    u32 result = run_all();
    quit();
    return (int)result;
}
