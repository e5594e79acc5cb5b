/* A sent file: what it is checked for, and how its events are run. Licence: 0BSD. */
#pragma once
#include "facts.h"
#include "gpu.h"
#include "records.h"

enum { MOST_CHOICE = 128, MOST_REASON = 200, MOST_TOLD = 640 };

struct range { u64 address, size, page; };
struct map { u64 id, address, size, handle, offset; u32 kind, live; };
struct owner { u64 number; struct object memory; };        /* memory by the file's handle */
struct counter { u64 id, start; struct channel real; };    /* a syncpoint of the file, and the one it has here */

struct sent {
    struct pgc file;
    struct records records;
    struct range ranges[MOST_RANGES], spaces[MOST_SPACES];
    struct map maps[MOST_MAPS];
    struct owner owners[MOST_HANDLES];
    struct channel channels[MOST_CHANNELS];
    struct counter counters[MOST_SYNCPOINTS];
    u32 range_count, space_count, map_count, owner_count, channel_count, counter_count;
    struct span relocate;
    struct block present;
    u64 coverage, total, to_read;                          /* bytes of memory; of what is read back */
    char choice[MOST_CHOICE], reason[MOST_REASON];
    char hung[MOST_TOLD], errors[MOST_TOLD];               /* of all channels */
};

/* Whether a file can be run. 0: yes; else why not is in one->reason. */
int sent_check(struct sent *one, u8 *data, u32 size);
/* Runs it, with memory of at least one->total bytes. 0: all went well, or units hung (see one->hung). */
int sent_run(struct sent *one, u8 *memory);
/* The bytes at a GPU address, for as long as they are in one piece; 0: nothing is mapped. */
int sent_at(struct sent *one, u64 address, u8 **at, u64 *size);
/* Gives all of it back. */
void sent_close(struct sent *one);
