/* Lines of text on the lower screen, in capital letters, and keys. Licence: 0BSD. */
#pragma once
#include "gpu.h"

bool screen_begin(void);
void screen_line(const char *text);                      /* at the bottom; older lines go up */
void screen_show(void);

/* Which of these keys are held. */
enum { KEY_A = 1 << 0, KEY_B = 1 << 1, KEY_SELECT = 1 << 2, KEY_START = 1 << 3, KEY_X = 1 << 10, KEY_Y = 1 << 11 };
u32 keys_held(void);
