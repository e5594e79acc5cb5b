/* Lines of text on the lower screen, in capital letters. Licence: 0BSD. */
#pragma once
#include "gpu.h"

bool screen_begin(void);
void screen_line(const char *text);                      /* at the bottom; older lines go up */
void screen_show(void);
