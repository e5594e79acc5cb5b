/* Lines of text on the screen, in capital letters. A console that gives no layer shows nothing, and nothing else changes.
 * Source: libnx's services/applet.c, services/vi.c, display/binder.c and display/framebuffer.c. Licence: 0BSD. */
#pragma once
#include "gpu.h"

enum { SCREEN_BYTES = 0x200000 };
void screen_begin(u8 *memory);                             /* SCREEN_BYTES of it, at a multiple of OBJECT_STEP */
void screen_line(const char *text);
void screen_show(void);
void screen_end(void);
