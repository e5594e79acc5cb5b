/* The records of a file for a Switch, one after the other. Licence: 0BSD. */
#pragma once
#include "../common/pgc.h"

struct block { u8 *at; u64 size; };
struct records {
    const struct pgc *file;
    u32 place;                                             /* of the section: see pgc_section */
    struct cursor at;
    u8 *first;                                             /* what positions count from, see records_word */
    const char *wrong;
};
struct record {
    u32 kind, place, page_kind;
    struct span key, value;
    struct block whole, data;                              /* all bytes of the record; what it stores */
    u64 id, address, size, handle, offset, channel, count;
    u8 *entries;
};

void records_begin(struct records *from, const struct pgc *file);
/* The next one; false at the end, or at something wrong (see from->wrong). */
bool records_next(struct records *from, struct record *one);
/* The word of 32 bits at a position, counted from the first record that is neither ABOUT nor COVERAGE; 0: there is none. */
u8 *records_word(const struct records *from, u64 position);
