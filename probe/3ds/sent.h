/* A sent file: what it says, and its events. Everything in it is checked before anything runs. Licence: 0BSD. */
#pragma once
#include "../common/pgc.h"
#include "facts.h"

enum { MOST_RANGES = 64, MOST_REGISTERS = 64 };
struct range { u32 at, size; };
struct sent {
    struct pgc file;
    struct span choice, relocate, look, look_text;
    struct range memory[MOST_RANGES];
    u32 memories;
    u32 registers[MOST_REGISTERS];
    u32 register_count;
    struct range main;                                   /* physical, as the file has it */
    u32 distance;                                        /* from there to where it is here */
    u32 linear;                                          /* the virtual address of physical main memory, less the physical */
    u64 coverage;
    bool is_answer;
    u32 frames, last;                                    /* last: the number of events */
};

/* An event. A register write has address, value and mask; a LOAD address, data and size; a GX command words; a framebuffer
 * words and in `address` the screen, and is followed by the register writes that it leads to (EVENT_SHOWN). `count` is the
 * number of events before it. */
enum kind { EVENT_LOAD, EVENT_WRITE, EVENT_COMMAND, EVENT_ENTRY, EVENT_SHOWN, EVENT_FRAME };
struct event {
    enum kind kind;
    u32 frame, number, count, address, value, mask, size, words[8];
    u8 *data;
};
typedef const char *visitor(struct sent *sent, const struct event *event);

/* What is wrong with a file; 0: nothing. `room` is the physical memory that the program has for it, `linear` as above. */
const char *sent_open(struct sent *sent, u8 *data, u32 size, struct range room, u32 linear);
/* Visit all events in order, until a visitor returns a text. */
const char *sent_walk(struct sent *sent, visitor *visit);

bool in_main(const struct sent *sent, u32 address, u64 size);
bool in_video(u32 address, u64 size);
bool in_table(const u32 (*table)[2], u32 rows, u32 address);
