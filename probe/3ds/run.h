/* Runs a sent file and writes its answer. Licence: 0BSD. */
#pragma once
#include "card.h"
#include "screen.h"
#include "sent.h"

enum { STAGING = 1 << 20 };                              /* bytes between the processor and video memory */
struct place { u32 physical, virtual, size; };           /* main memory for sent files */

/* Runs a file, or refuses it for a `reason`. `digest` is that of the file; the answer is written to `path`. */
void run_file(struct sent *sent, const char *reason, const char *digest, struct place main, u8 *staging, const char *path,
              const char *name);
/* An answer without a run. */
void answer_without(struct sent *sent, const char *end, const char *digest, const char *path);
void run_begin(void);

/* Lines of the log; the first one on the screen, too. main.c has them. */
void note(const char *name, const char *what);
void note_in_log(const char *name, const char *what);
