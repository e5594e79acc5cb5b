/* Files of the memory card. Paths are ASCII. Licence: 0BSD. */
#pragma once
#include "kernel.h"

bool card_begin(void);
struct file { u32 session, size; };
enum open { TO_READ, TO_REPLACE, TO_APPEND };            /* files that are written are made if they are not there */
bool file_open(struct file *file, const char *path, enum open how);
u32 file_read(struct file *file, u32 offset, void *to, u32 size);
bool file_write(struct file *file, const void *from, u32 size);  /* at its end */
void file_close(struct file *file);
void file_delete(const char *path);
/* Names of files in a folder that fit, one after the other, each with a zero; how many. */
u32 folder_list(const char *path, char *names, u32 room);
