/* The probe of the 3DS: runs the sent files of /pocketgpu-probe and writes their answers. Licence: 0BSD. */
#include "run.h"

#define FOLDER "/pocketgpu-probe"
#define RUNNING FOLDER "/running.txt"
#define SENT ".pgc"
#define ANSWER ".answer.pgc"
enum { MOST_NAMES = 1 << 15, MAIN_MOST = 16 << 20, MAIN_LEAST = 1 << 20, FACES = 32 << 20 };

static struct file log_file;
static bool logging;
static struct text *line_of(const char *name, const char *what) {
    TEXT(line, 1024);
    clear(&line);
    put(&line, name);
    put(&line, ": ");
    put(&line, what);
    return &line;
}
void note_in_log(const char *name, const char *what) {
    struct text *line = line_of(name, what);
    put_letter(line, '\n');
    say(line->at);
    if (logging) file_write(&log_file, line->at, line->size);
}
void note(const char *name, const char *what) {
    note_in_log(name, what);
    screen_line(line_of(name, what)->at);
}
static const char US[] = "the probe";
static void write_running(const char *name) {
    struct file file;
    if (!file_open(&file, RUNNING, TO_REPLACE)) return;
    file_write(&file, name, (u32)strlen(name));
    file_close(&file);
}

/* Memory for the files, and for their main memory: not across a line of 32 MiB, which faces of cube textures do not cross. */
static u8 *file_room, *staging;
static u32 file_bytes;
static struct place main_room;
static u32 linear_base(u32 address) { return (address >= FCRAM_VIRTUAL ? FCRAM_VIRTUAL : OLD_LINEAR) - FCRAM_PHYSICAL; }
static bool get_memory(void) {
    u32 size, at = 0;
    for (file_bytes = MOST_FILE; file_bytes >= MAIN_LEAST && !(file_room = (u8 *)allocate(file_bytes, false)); file_bytes /= 2) ;
    staging = (u8 *)allocate(STAGING, true);
    for (size = MAIN_MOST; size >= MAIN_LEAST && !(at = allocate(size, true)); size /= 2) ;
    if (!file_room || !staging || !at) return false;
    u32 physical = at - linear_base(at), line = (physical + FACES - 1) & ~(u32)(FACES - 1);
    if (line > physical && line < physical + size) {
        u32 low = line - physical;
        if (low < size - low) physical = line, at += low, size -= low;
        else size = low;
    }
    main_room = (struct place){physical, at, size};
    return true;
}
/* Reads a file, and its digest: of its first part, if it is larger than there is room for. False: the card does not give it. */
static bool read_all(const char *path, u32 *size, struct text *digest) {
    struct file file;
    struct sha256 sum;
    u8 raw[32];
    if (!file_open(&file, path, TO_READ)) return false;
    u32 at = 0, part = 1;
    *size = file.size;
    sha256_begin(&sum);
    for (; at < file.size && part; at += part) {
        u32 left = file.size - at;
        part = file_read(&file, at, file_room, left < file_bytes ? left : file_bytes);
        if (part > left) part = 0;
        sha256_add(&sum, file_room, part);
    }
    file_close(&file);
    sha256_end(&sum, raw);
    put_digest(digest, raw);
    return at == file.size;
}
/* Whether an answer says that it is one to the file with this digest. */
static bool answered(const char *path, const char *digest) {
    enum { ENOUGH = 2048 };
    static u8 head[ENOUGH];
    struct file file;
    if (!file_open(&file, path, TO_READ)) return false;
    u32 size = file_read(&file, 0, head, file.size < ENOUGH ? file.size : ENOUGH);
    file_close(&file);
    return contains(head, size, digest);
}
static void one(const char *file, bool hung_before) {
    TEXT(path, 192);
    TEXT(answer, 192);
    TEXT(name, 160);
    TEXT(digest, 65);
    static struct sent sent;
    clear(&path); clear(&answer); clear(&digest); clear(&name);
    for (u32 n = 0; n + strlen(SENT) < strlen(file); n++) put_letter(&name, file[n]);
    put(&path, FOLDER "/"); put(&path, file);
    put(&answer, FOLDER "/"); put(&answer, name.at); put(&answer, ANSWER);
    u32 size = 0;
    sent = (struct sent){0};
    if (!read_all(path.at, &size, &digest)) { note(name.at, "the card does not give it"); return; }
    bool fits = size <= file_bytes;
    if (fits && pgc_is_foreign(file_room, size, CONSOLE_3DS)) { note(name.at, "skipped, as it is for another console"); return; }
    if (answered(answer.at, digest.at)) { note(name.at, "answered before"); return; }
    const char *reason = fits ? sent_open(&sent, file_room, size, (struct range){main_room.physical, main_room.size},
                                          linear_base(main_room.virtual)) : "it is too large";
    if (sent.is_answer) return;
    if (hung_before) {
        answer_without(&sent, "no answer", digest.at, answer.at);
        note(name.at, "no answer, as the console hung in it");
        return;
    }
    if (!reason) {
        note(name.at, "begins");
        screen_show();
        write_running(file);
    }
    run_file(&sent, reason, digest.at, main_room, staging, answer.at, name.at);
    if (!reason) write_running("");
}

static void wait_to_end(void) {
    enum { SECONDS = 10, EACH = 20 };
    for (u32 n = 0; n < SECONDS * EACH && !(keys_held() & KEY_START) && !applets_end_asked(); n++) sleep_for(SECOND / EACH);
}
static void probe(void) {
    static char names[MOST_NAMES], hung[192];
    struct file file;
    if (file_open(&file, RUNNING, TO_READ)) {
        u32 size = file_read(&file, 0, hung, file.size < sizeof hung ? file.size : sizeof hung - 1);
        hung[size < sizeof hung ? size : 0] = 0;
        file_close(&file);
    }
    u32 count = folder_list(FOLDER, names, sizeof names), sent = 0;
    const char *name = names;
    for (u32 n = 0; n < count; n++, name += strlen(name) + 1) {
        if (!ends(name, SENT) || ends(name, ANSWER)) continue;
        if (applets_end_asked()) break;
        one(name, hung[0] && equal(name, hung));
        screen_show();
        sent++;
    }
    if (hung[0]) write_running("");
    if (!sent) note(US, "no files in " FOLDER);
}
int main(void) {
    applets_begin();
    if (!gpu_begin() || !screen_begin()) leave();
    note(US, PROGRAM);
    if (!card_begin() || !get_memory()) {
        note(US, "there is no memory card, or too little memory");
    } else {
        logging = file_open(&log_file, FOLDER "/log.txt", TO_APPEND);
        run_begin();
        probe();
    }
    note(US, "the end");
    if (logging) file_close(&log_file);
    screen_line("press START");
    screen_show();
    wait_to_end();
    gpu_end();
    return 0;
}
