/* The probe of the 3DS: runs the sent files of /pocketgpu-probe and writes their answers. Licence: 0BSD. */
#include "run.h"

#define FOLDER "/pocketgpu-probe"
#define RUNNING FOLDER "/running.txt"
enum { MOST_NAMES = 1 << 15, LARGEST_FILE = 24 << 20, MAIN_MOST = 16 << 20, MAIN_LEAST = 1 << 20, FACES = 32 << 20 };

static struct file log_file;
static bool logging;
static void tell(const char *text) {
    TEXT(line, 256);
    clear(&line);
    put(&line, text);
    put_letter(&line, '\n');
    say(line.at);
    if (logging) file_write(&log_file, line.at, line.size);
    screen_line(text);
}
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
    for (file_bytes = LARGEST_FILE; file_bytes >= MAIN_LEAST && !(file_room = (u8 *)allocate(file_bytes, false)); file_bytes /= 2) ;
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
static u32 read_all(const char *path) { /* bytes of the file; 0: it cannot be read, or does not fit */
    struct file file;
    u32 size = 0;
    if (!file_open(&file, path, TO_READ)) return 0;
    if (file.size <= file_bytes && file_read(&file, 0, file_room, file.size) == file.size) size = file.size;
    file_close(&file);
    return size;
}

static void digest_of(u32 size, struct text *to) {
    struct sha256 sum;
    u8 digest[32];
    sha256_begin(&sum);
    sha256_add(&sum, file_room, size);
    sha256_end(&sum, digest);
    put_digest(to, digest);
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
static void one(const char *name, bool hung_before) {
    TEXT(path, 192);
    TEXT(answer, 192);
    TEXT(digest, 65);
    TEXT(line, 256);
    static struct sent sent;
    clear(&path); clear(&answer); clear(&digest); clear(&line);
    put(&path, FOLDER "/"); put(&path, name);
    put(&answer, FOLDER "/");
    for (u32 n = 0; n + 4 < strlen(name); n++) put_letter(&answer, name[n]);
    put(&answer, ".answer.pgc");
    put(&line, name);
    put(&line, ": ");
    u32 size = read_all(path.at);
    if (!size) {
        put(&line, "cannot be read, or is too large");
        tell(line.at);
        return;
    }
    digest_of(size, &digest);
    if (hung_before) {
        sent = (struct sent){0};
        sent_open(&sent, file_room, size, (struct range){main_room.physical, main_room.size}, linear_base(main_room.virtual));
        answer_without(&sent, "no answer", digest.at, answer.at);
        put(&line, "the console hung in it");
        tell(line.at);
        return;
    }
    if (answered(answer.at, digest.at)) {
        put(&line, "answered before");
        tell(line.at);
        return;
    }
    const char *reason = sent_open(&sent, file_room, size, (struct range){main_room.physical, main_room.size}, linear_base(main_room.virtual));
    if (sent.is_answer) return;
    tell(name);
    screen_show();
    write_running(name);
    run_file(&sent, reason, digest.at, main_room, staging, answer.at, &line);
    write_running("");
    tell(line.at);
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
        if (!ends(name, ".pgc") || ends(name, ".answer.pgc")) continue;
        if (applets_end_asked()) break;
        one(name, hung[0] && equal(name, hung));
        screen_show();
        sent++;
    }
    if (hung[0]) write_running("");
    if (!sent) tell("no files in " FOLDER);
}
int main(void) {
    applets_begin();
    if (!gpu_begin() || !screen_begin()) leave();
    tell(PROGRAM);
    if (!card_begin() || !get_memory()) {
        tell("no memory card, or not enough memory");
    } else {
        logging = file_open(&log_file, FOLDER "/log.txt", TO_APPEND);
        run_begin();
        probe();
        if (logging) file_close(&log_file);
    }
    tell("the end. press START");
    screen_show();
    wait_to_end();
    gpu_end();
    return 0;
}
