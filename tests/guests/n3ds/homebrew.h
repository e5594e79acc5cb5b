/* What a homebrew loader and a program agree on. The start block is at 0x00100000; the loader fills it in. */
#pragma once
#include "runtime.h"
struct start_block { u32 branch, magic, services, app_id, heap, linear_heap, arguments, flags; };
extern struct start_block start_homebrew;
const char *argument(u32 number);                     /* 0 is the program's own place; 0 if there is no such argument */
int equal(const char *one, const char *other);
