/* Files of the memory card (fsp-srv). What goes wrong is a result of the system, 0 if nothing does. Licence: 0BSD. */
#pragma once
#include "kernel.h"

enum { MOST_PATH = 0x301 };
u32 card_open(void);
void card_close(void);
u32 card_size(const char *path, u64 *size);
u32 card_read(const char *path, void *to, u64 size);
u32 card_read_part(const char *path, u64 from, void *to, u64 size);
u32 card_write(const char *path, const void *data, u64 size);   /* the whole file, new */
/* Names of files in a folder, one after the other, each with its 0; how many there are. */
u32 card_list(const char *path, char *names, u32 room, u32 *count);
