#include "screen.h"
#include "../common/font.h"

enum { WIDTH = 320, HEIGHT = 240, CELL = 8, LINE = 12, COLUMNS = WIDTH / CELL, LINES = HEIGHT / LINE };
static u16 *pixels;
static char lines[LINES][COLUMNS];

bool screen_begin(void) {
    pixels = (u16 *)allocate(WIDTH * HEIGHT * 2, true);
    return pixels;
}
static void draw(u32 column, u32 line, char letter) {
    if (letter >= 'a' && letter <= 'z') letter = (char)(letter - 32);
    u32 glyph = letter >= FONT_FIRST && letter < FONT_END ? FONT[letter - FONT_FIRST] : 0;
    for (u32 x = 0; x < 6; x++)
        for (u32 y = 0; y < 10; y++) {
            u32 bit = glyph >> (3 * (4 - y / 2) + 2 - x / 2) & 1;
            pixels[(column * CELL + 1 + x) * HEIGHT + HEIGHT - 2 - line * LINE - y] = bit ? 0xFFFF : 0;
        }
}
void screen_line(const char *text) {
    do {                                                 /* a long one is cut at spaces */
        u32 size = (u32)strlen(text), least = COLUMNS / 2;
        if (size > COLUMNS) for (size = COLUMNS; size > least && text[size] != ' ';) size--;
        if (size == least && text[size] && text[size] != ' ') size = COLUMNS;
        memcpy(lines[0], lines[1], sizeof lines - sizeof lines[0]);
        memset(lines[LINES - 1], 0, COLUMNS);
        memcpy(lines[LINES - 1], text, size);
        text += size;
        while (*text == ' ') text++;
    } while (*text);
}
void screen_show(void) {
    for (u32 line = 0; line < LINES; line++)
        for (u32 column = 0; column < COLUMNS; column++) draw(column, line, lines[line][column]);
    gpu_flush((u32)pixels, WIDTH * HEIGHT * 2);
    gpu_show(1, (u32)pixels, HEIGHT * 2, RGB565);
}

u32 keys_held(void) {
    enum { CURRENT = 0x1C, KNOWN = KEY_A | KEY_B | KEY_X | KEY_Y | KEY_SELECT | KEY_START };
    static volatile u32 *pad;
    static bool asked;
    if (!asked) {
        u32 session = service("hid:USER"), place = 0;
        asked = true;
        if (session && !failed(ask(session, HID_GET_HANDLES))) place = map_shared(message()[3], 0x1000, 1);
        if (place) pad = (volatile u32 *)(place + CURRENT);
    }
    return pad ? *pad & KNOWN : 0;                       /* others are directions of the circle pad */
}
