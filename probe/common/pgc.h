/* Reading and writing `.pgc` files: docs/formats/pgc.md and docs/formats/probe.md. Licence: 0BSD.
 *
 * A file is not trusted: a cursor never leaves the bytes that it was given, and says afterwards that it wanted to. */
#pragma once
#include "digest.h"

enum { CONSOLE_3DS = 1, CONSOLE_SWITCH = 2 };
enum { SECTION_RECORDS = 1, SECTION_END = 2, STORED = 0 };
enum {
    ABOUT = 0x01, COVERAGE = 0x02, STATE = 0x03, FRAME = 0x0F,
    LOAD = 0x10, WRITES = 0x11, WRITE8 = 0x12, WRITE16 = 0x13, GX = 0x14, SWAP = 0x15, TRANSLATE = 0x16,
    MAP = 0x20, UNMAP = 0x21, STORE = 0x22, SUBMIT = 0x23, SYNCPOINT = 0x24, PRESENT = 0x25, MAP_PART = 0x26, PRESENT_PART = 0x27
};

struct cursor { u8 *at, *end; bool bad; };
u8 get8(struct cursor *from);
u32 get16(struct cursor *from);
u32 get32(struct cursor *from);
u64 get_varint(struct cursor *from);
u8 *get_bytes(struct cursor *from, u64 size);            /* 0: there are not so many */
/* The bytes of a LOAD or STORE, which have to be one new block. */
u8 *get_block(struct cursor *from, u32 *size);

struct pgc { u8 *data; u32 size, digest_size, check_size; };
/* Whether it is a file for another console than `console`. */
bool pgc_is_foreign(const u8 *data, u32 size, u8 console);
/* What is wrong with header, sections and checksums; 0: nothing. */
const char *pgc_open(struct pgc *file, u8 *data, u32 size, u8 console);
/* The next section of records; *place is 0 at first. */
bool pgc_section(const struct pgc *file, u32 *place, struct cursor *records);
/* A FRAME: its pictures are passed over. */
void pgc_frame(const struct pgc *file, struct cursor *from);

/* The text of an ABOUT record. */
struct span { const char *at; u32 size; };
struct span get_span(struct cursor *from);
bool span_is(struct span text, const char *other);
bool span_begins(struct span text, const char *part);
/* The next number of a list in hexadecimal digits; false at its end. */
bool next_hex(struct span *list, u64 *value);
/* Whether nothing but separators is left. */
bool at_end(struct span list);
char next_letter(struct span *list);                     /* right after a number; 0: there is none */

/* Writing. A sink takes bytes; the first time it only counts them, as sections begin with their size. */
struct sink {
    void (*take)(void *user, const void *data, u32 size); /* 0: count only */
    void *user;
    u32 size, crc, check;                                 /* of the section; of the records */
};
void sink_bytes(struct sink *to, const void *data, u32 size);
void sink8(struct sink *to, u32 value);
void sink32(struct sink *to, u32 value);
void sink_varint(struct sink *to, u64 value);
void sink_about(struct sink *to, const char *key, const char *value); /* an empty value: no record */
/* The check of a FRAME whose other fields are written. */
void sink_check(struct sink *to);
/* A whole file with one section of records, which `records` writes; it is called twice. */
void sink_file(struct sink *to, u8 console, u32 frames, void (*records)(struct sink *to, void *user), void *user);
