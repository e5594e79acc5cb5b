#include "run.h"

enum { MOST_HUNG = 32, SHOWN_MOST = 64, PATIENCE = 2000, LOOK_SECONDS = 8, READ_SECONDS = 3 };
static const char *const NAMES[INTERRUPTS] = {INTERRUPT_NAMES};

static const char NOT_WRITTEN[] = "its answer cannot be written";

/* What a file has done so far. */
static struct place main_at;
static u8 *staging;
static u32 hung_count;
static bool unread;                                      /* a copy that the program itself needs has failed */
TEXT(hung, 512);
TEXT(refused, 512);
static struct { u32 address, value; } shown[SHOWN_MOST];  /* last writes to registers that say what is shown */
static u32 shown_count;
static struct { u32 address, value; } usual[SHOWN_MOST];  /* what they and VRAM_POWER were before */
static u32 usual_count;
static bool table_written[2];                            /* the colour table of a screen */

/* Texts that the screens and their registers may need again. */
TEXT(console, 128);
TEXT(model, 8);
TEXT(seen, 64);

void run_begin(void) {
    u32 *m = message(), session, number = 0xFF, region = 0xFF;
    volatile u32 *kernel_page = (volatile u32 *)0x1FF80000;
    for (u32 n = 0; n < COUNT(SHOWN); n++)
        for (u32 at = SHOWN[n][0]; at < SHOWN[n][1] && usual_count < SHOWN_MOST; at += 4) {
            usual[usual_count].address = at;
            usual[usual_count++].value = gpu_read(at);
        }
    usual[usual_count].address = VRAM_POWER;
    usual[usual_count++].value = gpu_read(VRAM_POWER);
    if ((session = service("cfg:u"))) {
        if (!failed(ask(session, CFG_GET_SYSTEM_MODEL))) number = m[2] & 255;
        if (!failed(ask(session, CFG_SECURE_INFO_GET_REGION))) region = m[2] & 255;
        close_handle(session);
    }
    u32 version = *kernel_page, emulator[4];
    /* A console knows no such number, and answers with an error or with nothing. */
    if (!failed(svc_system_info(0, EMULATOR_INFO, EMULATOR_IS_OURS, 0, 0, 0, emulator)) && emulator[0] == EMULATOR_MARK
        && !failed(svc_system_info(0, EMULATOR_INFO, EMULATOR_VERSION, 0, 0, 0, emulator))) {
        put(&console, "pocketgpu ");
        for (u32 n = 0; n < 3; n++) {
            if (n) put_letter(&console, '.');
            put_number(&console, emulator[0] >> (16 - 8 * n) & 255);
        }
        put(&console, ", emulating a ");
    }
    put(&console, "3DS, kernel ");
    put_number(&console, version >> 24);
    put_letter(&console, '.');
    put_number(&console, version >> 16 & 255);
    put_letter(&console, '.');
    put_number(&console, version >> 8 & 255);
    put(&console, ", model ");
    put_number(&console, number);
    put(&console, ", region ");
    put_number(&console, region);
    put(&console, ", hardware ");
    put_hex(&console, gpu_read(HARDWARE_ID), 8);
    put(&model, is_new_model() ? "new" : "old");
}

/* -- events --------------------------------------------------------------------------------------------------------- */
static void put_place(struct text *to, const struct event *event) {
    put(to, " f");
    put_number(to, event->frame);
    put(to, "/e");
    put_number(to, event->number);
}
static void finish(u32 units, const struct event *event) {
    if (!units) return;
    u32 left = gpu_wait(units, PATIENCE);
    for (u32 unit = 0; unit < INTERRUPTS; unit++)
        if (left >> unit & 1) {
            put_comma(&hung);
            put(&hung, NAMES[unit]);
            put_place(&hung, event);
            hung_count++;
        }
}
static void note_refused(u32 result, const struct event *event) {
    if (!failed(result)) return;
    put_comma(&refused);
    put_hex(&refused, result, 8);
    put_place(&refused, event);
}
static void note_shown(const struct event *event) {
    u32 n = 0;
    if (!in_table(SHOWN, COUNT(SHOWN), event->address)) return;
    while (n < shown_count && shown[n].address != event->address) n++;
    if (n == SHOWN_MOST) return;
    if (n == shown_count) shown[shown_count++].value = 0;
    shown[n].address = event->address;
    shown[n].value = (shown[n].value & ~event->mask) | event->value;
}
static u32 virtual_of(const struct sent *sent, u32 address, u32 size) { /* of memory that the sent file names */
    if (in_video(address, size)) return address - VRAM_PHYSICAL + VRAM_VIRTUAL;
    return address - sent->main.at + main_at.virtual;
}
static bool load(const struct sent *sent, const struct event *event) {
    u32 to = virtual_of(sent, event->address, event->size);
    if (!in_video(event->address, event->size)) {
        memcpy((void *)to, event->data, event->size);
        gpu_flush(to, event->size);
        return true;
    }
    for (u32 done = 0; done < event->size; done += STAGING) {
        u32 part = event->size - done < STAGING ? event->size - done : STAGING;
        memcpy(staging, event->data + done, part);
        gpu_flush((u32)staging, part);
        if (!gpu_copy((u32)staging, to + done, part)) return false;
    }
    return true;
}
TEXT(registers, 1536);
/* Registers are read right after the last event, while what it started may still run. */
static void read_registers(const struct sent *sent) {
    for (u32 n = 0; n < sent->register_count; n++) {
        put_comma(&registers);
        put_hex(&registers, sent->registers[n], 8);
        put_letter(&registers, ' ');
        put_hex(&registers, gpu_read(sent->registers[n]), 8);
    }
}
static const char *play(struct sent *sent, const struct event *event) {
    u32 units = 0;
    switch (event->kind) {
    case EVENT_LOAD:
        if (event->size && !load(sent, event)) return "a copy to video memory failed";
        break;
    case EVENT_WRITE:
        gpu_begin_wait(units = gpu_units_of_write(event->address, event->value));
        note_shown(event);
        if (event->address == PDC0_LUT_DATA) table_written[0] = true;
        if (event->address == PDC0_LUT_DATA + PDC_STEP) table_written[1] = true;
        if (event->mask == 0xFFFFFFFFu) note_refused(gpu_write(event->address, event->value), event);
        else note_refused(gpu_write_part(event->address, event->value, event->mask), event);
        break;
    case EVENT_COMMAND:
        gpu_begin_wait(units = gpu_units_of_command(event->words));
        u32 result = gpu_command(event->words);
        note_refused(result, event);
        if (failed(result)) units = 0;
        break;
    case EVENT_ENTRY: gpu_show_entry(event->address, event->words); break;
    case EVENT_SHOWN: note_shown(event); break;
    case EVENT_FRAME: gpu_next_picture(); break;
    }
    if (event->count == sent->last) read_registers(sent);
    finish(units, event);
    return hung_count >= MOST_HUNG ? "too many units that hang" : 0;
}

/* -- the answer ----------------------------------------------------------------------------------------------------- */
struct answer {
    struct sent *sent;
    const char *end, *digest;
    bool ran;
    struct text *registers, *interrupts, *moved;
    bool pictures[2];
    u8 picture[2][32];
};
static u8 *read_video(u32 address, u32 size) { /* at most STAGING bytes */
    /* Lines that the processor has written would go to memory later, over what is copied. */
    gpu_invalidate((u32)staging, size);
    if (!gpu_copy(address - VRAM_PHYSICAL + VRAM_VIRTUAL, (u32)staging, size)) unread = true;
    gpu_invalidate((u32)staging, size);
    return staging;
}
static void sink_memory(struct sink *to, const struct sent *sent, struct range range) {
    if (!to->take) { to->size += range.size; return; }
    if (!in_video(range.at, range.size)) {
        u32 at = virtual_of(sent, range.at, range.size);
        gpu_invalidate(at, range.size);
        sink_bytes(to, (void *)at, range.size);
        return;
    }
    for (u32 done = 0; done < range.size; done += STAGING) {
        u32 part = range.size - done < STAGING ? range.size - done : STAGING;
        sink_bytes(to, read_video(range.at + done, part), part);
    }
}
static u32 moved_back(const struct sent *sent, u32 value) {
    u32 start = sent->main.at + sent->distance;
    return sent->main.size && value >= start && value - start < sent->main.size ? value - sent->distance : value;
}
static void records(struct sink *to, void *user) {
    enum { PICTURES = 1 << 16 };
    struct answer *answer = user;
    struct sent *sent = answer->sent;
    TEXT(choice, 128);
    clear(&choice);
    for (u32 n = 0; n < sent->choice.size; n++) put_letter(&choice, sent->choice.at[n]);
    sink_about(to, "probe.answer", "1");
    sink_about(to, "probe.choice", choice.at);
    sink_about(to, "probe.sent", answer->digest);
    sink_about(to, "probe.console", console.at);
    sink_about(to, "probe.model", model.at);
    sink_about(to, "probe.program", PROGRAM);
    sink_about(to, "probe.end", answer->end);
    if (answer->ran) {
        sink_about(to, "probe.seen", seen.at);
        sink_about(to, "probe.hung", hung.at);
        sink_about(to, "probe.errors", refused.at);
        sink_about(to, "probe.interrupts", answer->interrupts->at);
        sink_about(to, "probe.register", answer->registers->at);
        sink_about(to, "probe.moved", answer->moved->at);
    }
    bool pictures = answer->ran && answer->pictures[0] && answer->pictures[1];
    sink8(to, COVERAGE);
    sink_varint(to, (sent->coverage & ~(u64)PICTURES) | (pictures ? PICTURES : 0));
    if (answer->ran) {
        for (u32 n = 0; n < sent->memories; n++) {
            sink8(to, LOAD);
            sink32(to, sent->memory[n].at);
            sink_varint(to, 1);
            sink_varint(to, 0);
            sink_varint(to, sent->memory[n].size);
            sink_memory(to, sent, sent->memory[n]);
        }
        if (shown_count) {
            sink8(to, WRITES);
            sink_varint(to, shown_count);
        }
        for (u32 n = 0; n < shown_count; n++) {
            sink32(to, shown[n].address);
            sink32(to, moved_back(sent, shown[n].value));
        }
    }
    sink8(to, FRAME);
    sink_varint(to, pictures ? 2 : 0);
    for (u32 n = 0; pictures && n < 2; n++) {
        sink8(to, n);
        sink8(to, 1);
        sink_bytes(to, answer->picture[n], 32);
    }
    sink_check(to);
}

/* Bytes go to the card in large pieces. */
static struct { struct file file; u8 bytes[1 << 16]; u32 size; bool bad; } output;
static void output_flush(void) {
    if (!file_write(&output.file, output.bytes, output.size)) output.bad = true;
    output.size = 0;
}
static void output_take(void *user, const void *data, u32 size) {
    (void)user;
    for (const u8 *at = data; size;) {
        u32 room = sizeof output.bytes - output.size, part = size < room ? size : room;
        memcpy(output.bytes + output.size, at, part);
        output.size += part;
        at += part, size -= part;
        if (output.size == sizeof output.bytes) output_flush();
    }
}
static void write_answer(struct answer *answer, const char *path) {
    struct sink to = {.take = output_take};
    output.size = 0;
    output.bad = false;
    if (!file_open(&output.file, path, TO_REPLACE)) {
        output.bad = true;
        return;
    }
    sink_file(&to, CONSOLE_3DS, 1, records, answer);
    output_flush();
    file_close(&output.file);
    if (output.bad) file_delete(path);                   /* the card is full */
}
void answer_without(struct sent *sent, const char *end, const char *digest, const char *path) {
    write_answer(&(struct answer){.sent = sent, .end = end, .digest = digest}, path);
}

/* -- what a person sees ---------------------------------------------------------------------------------------------- */
/* A value of `probe.look`, by its number; false: there are not so many. */
static bool value_of(struct span list, u32 number, struct text *to) {
    clear(to);
    for (u32 n = 0; list.size; list.at++, list.size--) {
        if (*list.at == ' ') continue;
        if (*list.at == ',') n++;
        else if (n == number) put_letter(to, *list.at);
    }
    return to->size;
}
static u32 shown_value(u32 address) {
    for (u32 n = 0; n < shown_count; n++)
        if (shown[n].address == address) return shown[n].value;
    return 0;
}
/* What the lower screen showed, which the text covers. */
static bool shows_below(void) { return shown_value(PDC0_ADDRESS_A0 + PDC_STEP) || shown_value(BOTTOM_FILL) & FILL_ON; }
static void show_below(void) {
    for (u32 n = 0; n < shown_count; n++) {
        u32 at = shown[n].address;
        if (at == BOTTOM_FILL || (at >= PDC0_FIRST + PDC_STEP && at < PDC0_FIRST + 2 * PDC_STEP)) gpu_write(at, shown[n].value);
    }
}
static void sleep_seconds(u32 seconds) { for (u32 n = 0; n < seconds; n++) sleep_for(SECOND); }
static void wait_for_release(void) {
    enum { SECONDS = 5, EACH = 20 };
    for (u32 n = 0; n < SECONDS * EACH && keys_held(); n++) sleep_for(SECOND / EACH);
}
/* The pictures stay on the screens until somebody has said what they are, or for a minute. */
static void ask_person(const struct sent *sent, const char *name) {
    static const struct { const char *name; u32 key; } keys[] = {{"A", KEY_A}, {"B", KEY_B}, {"X", KEY_X}, {"Y", KEY_Y}};
    enum { SECONDS = 60, EACH = 20 };
    bool below = shows_below(), done = false;
    TEXT(line, 64);
    TEXT(value, 64);
    TEXT(question, 640);
    if (below) sleep_seconds(LOOK_SECONDS);              /* before text covers the lower screen */
    clear(&question);
    put(&question, "What do the screens show? ");
    for (u32 n = 0; n < sent->look_text.size; n++) put_letter(&question, sent->look_text.at[n]);
    for (u32 n = 0; n < COUNT(keys) && value_of(sent->look, n, &value); n++) {
        put(&question, n ? ", " : " Press ");
        put(&question, keys[n].name);
        put(&question, ": ");
        put(&question, value.at);
    }
    put(&question, ", SELECT: none of them, or not sure");
    note_in_log(name, question.at);
    screen_line("What do the screens show?");
    clear(&question);
    for (u32 n = 0; n < sent->look_text.size; n++) put_letter(&question, sent->look_text.at[n]);
    screen_line(question.at);
    for (u32 n = 0; n < COUNT(keys) && value_of(sent->look, n, &value); n++) {
        clear(&line);
        put(&line, keys[n].name);
        put(&line, ": ");
        put(&line, value.at);
        screen_line(line.at);
    }
    screen_line("SELECT: none of them, or not sure");
    if (below) screen_line("START: show both screens again");
    screen_show();
    wait_for_release();                                  /* a key from before is no answer */
    for (u32 n = 0; n < SECONDS * EACH && !done; n++) {
        u32 held = keys_held();
        for (u32 key = 0; key < COUNT(keys) && !done; key++)
            done = held & keys[key].key && value_of(sent->look, key, &seen);
        done = done || held & KEY_SELECT;
        if (!done) clear(&seen);
        if (below && held & KEY_START) {
            show_below();
            sleep_seconds(LOOK_SECONDS);
            screen_show();
        }
        sleep_for(SECOND / EACH);
    }
    wait_for_release();
}

/* -- pictures ------------------------------------------------------------------------------------------------------- */
static u32 widened(u32 value, u32 bits) { /* a channel becomes a byte: its bits repeat */
    if (bits == 1) return value ? 255 : 0;
    for (value <<= 8 - bits; bits < 8; bits *= 2) value |= value >> bits;
    return value & 255;
}
static void color(const u8 *from, u32 format, u8 rgb[3]) {
    u32 word = from[0] | (u32)from[1] << 8;
    switch (format) {
    case 0: rgb[0] = from[3]; rgb[1] = from[2]; rgb[2] = from[1]; break;
    case 1: rgb[0] = from[2]; rgb[1] = from[1]; rgb[2] = from[0]; break;
    case 2: rgb[0] = widened(word >> 11, 5); rgb[1] = widened(word >> 5 & 63, 6); rgb[2] = widened(word & 31, 5); break;
    case 3: rgb[0] = widened(word >> 11, 5); rgb[1] = widened(word >> 6 & 31, 5); rgb[2] = widened(word >> 1 & 31, 5); break;
    default: rgb[0] = widened(word >> 12, 4); rgb[1] = widened(word >> 8 & 15, 4); rgb[2] = widened(word >> 4 & 15, 4); break;
    }
}
static bool is_read_back(const struct sent *sent, u32 address, u32 size) {
    for (u32 n = 0; n < sent->memories; n++) {
        struct range range = sent->memory[n];
        if (address >= range.at && address - range.at <= range.size && range.size - (address - range.at) >= size) return true;
    }
    return false;
}
/* The digest of what a screen shows, as `pocketgpu render --json` prints it; false: a picture of a kind that this
 * program leaves to others (both eyes, 800 columns, line modes). */
static bool picture(const struct sent *sent, u32 screen, u8 digest[32]) {
    enum { HEIGHT = 240, HIGHEST_FORMAT = 4, ALL_FIELDS = FORMAT_INTERLACE | FORMAT_SCAN_DOUBLING };
    static u8 row[400 * 3];
    u32 step = screen * PDC_STEP, width = screen ? 320 : 400, fill = shown_value(screen ? BOTTOM_FILL : TOP_FILL);
    u32 format = shown_value(PDC0_FORMAT + step), stride = shown_value(PDC0_STRIDE + step), kind = format & COLOR_FORMAT;
    u32 next = shown_value(PDC0_SELECT + step) & SELECT_NEXT, size = kind == 0 ? 4 : kind == 1 ? 3 : 2;
    u32 address = moved_back(sent, shown_value(PDC0_ADDRESS_A0 + step + 4 * next)), all = (width - 1) * stride + HEIGHT * size;
    struct sha256 to;
    if (fill & FILL_ON || table_written[screen] || kind > HIGHEST_FORMAT || stride > 4096 || all > STAGING) return false;
    if (screen ? format & FORMAT_INTERLACE : (format & ALL_FIELDS) != FORMAT_SCAN_DOUBLING) return false;
    u8 *from;
    if (in_main(sent, address, all)) {
        from = (u8 *)virtual_of(sent, address, all);
        gpu_invalidate((u32)from, all);
    } else if (in_video(address, all)) {
        from = read_video(address, all);
    } else if (!address) {
        from = memset(staging, 0, all);                  /* no framebuffer is black */
    } else {
        return false;
    }
    /* A replay of the answer has zeros where the answer has no memory. */
    if (!is_read_back(sent, address, all))
        for (u32 n = 0; n < all; n++)
            if (from[n]) return false;
    sha256_begin(&to);
    for (u32 y = 0; y < HEIGHT; y++) {
        for (u32 x = 0; x < width; x++) color(from + x * stride + (HEIGHT - 1 - y) * size, kind, row + 3 * x);
        sha256_add(&to, row, 3 * width);
    }
    sha256_end(&to, digest);
    return true;
}

/* The displays as they were before the file: their registers, and tables that change no colour. */
static void leave_as_usual(void) {
    enum { LEVELS = 256, EACH_CHANNEL = 0x010101 };
    for (u32 n = 0; n < usual_count; n++) gpu_write(usual[n].address, usual[n].value);
    for (u32 screen = 0; screen < 2; screen++) {
        if (!table_written[screen]) continue;
        gpu_write(PDC0_LUT_INDEX + screen * PDC_STEP, 0);
        for (u32 level = 0; level < LEVELS; level++) gpu_write(PDC0_LUT_DATA + screen * PDC_STEP, level * EACH_CHANNEL);
    }
}

/* -- all together --------------------------------------------------------------------------------------------------- */
void run_file(struct sent *sent, const char *reason, const char *digest, struct place main, u8 *between, const char *path,
              const char *name) {
    TEXT(interrupts, 128);
    TEXT(moved, 16);
    TEXT(end, 128);
    TEXT(told, 640);
    clear(&seen); clear(&hung); clear(&refused); clear(&registers); clear(&interrupts); clear(&moved); clear(&end); clear(&told);
    hung_count = shown_count = 0;
    unread = false;
    table_written[0] = table_written[1] = false;
    main_at = main;
    staging = between;
    if (reason) {
        put(&end, "refused: ");
        put(&end, reason);
        answer_without(sent, end.at, digest, path);
        note(name, output.bad ? NOT_WRITTEN : end.at);
        return;
    }
    if (sent->look.size) {
        note(name, "look at both screens: a question follows");
        screen_show();
        sleep_seconds(READ_SECONDS);
    }
    memset((void *)main.virtual, 0, sent->main.size);
    if (sent->main.size) gpu_flush(main.virtual, sent->main.size);
    const char *stopped = gpu_clear_video_memory() ? 0 : "video memory could not be cleared";
    memset(gpu_counts, 0, sizeof gpu_counts);
    gpu_begin_wait(~0u);
    gpu_counting = true;
    if (!stopped) stopped = sent_walk(sent, play);
    gpu_next_picture();                                  /* a late interrupt still counts */
    gpu_counting = false;
    if (!registers.size) read_registers(sent);           /* it stopped before, or has no events */
    if (hung_count) gpu_reset();
    for (u32 n = 0; n < INTERRUPTS; n++)
        if (gpu_counts[n]) {
            put_comma(&interrupts);
            put(&interrupts, NAMES[n]);
            put_letter(&interrupts, ' ');
            put_number(&interrupts, gpu_counts[n]);
        }
    if (sent->main.size) put_hex(&moved, main.physical, 8);
    put(&end, stopped ? "stopped: " : "finished");
    if (stopped) put(&end, stopped);
    struct answer answer = {.sent = sent, .end = end.at, .digest = digest, .ran = true,
                            .registers = &registers, .interrupts = &interrupts, .moved = &moved};
    for (u32 n = 0; n < 2; n++) answer.pictures[n] = picture(sent, n, answer.picture[n]);
    if (sent->look.size && !stopped) ask_person(sent, name);
    write_answer(&answer, path);
    if (unread) {                                        /* what it says of memory is not what was there */
        clear(&end);
        put(&end, "stopped: video memory could not be read");
        answer_without(sent, end.at, digest, path);
    }
    leave_as_usual();
    put(&told, end.at);
    if (hung.size) { put(&told, ", hung: "); put(&told, hung.at); }
    if (refused.size) { put(&told, ", errors: "); put(&told, refused.at); }
    note(name, output.bad ? NOT_WRITTEN : told.at);
}
