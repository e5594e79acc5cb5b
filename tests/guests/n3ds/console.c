/* Prints as libctru's console does: 8x8 glyphs, drawn by the processor into RGB565 framebuffers. */
#include "runtime.h"
#include "fonts.h"
#define WHITE 0xC618
#define RED 0x8000
#define YELLOW 0xFFE0
#define BLUE 0x0010
enum { PLAIN = 0, UNDERLINE = 1, CROSSED_OUT = 2, REVERSE = 4 };
static u16 *screen;
static const u8 *font = plain_font;
static u32 first;

static void draw(u32 column, u32 row, u32 code, u32 fg, u32 bg, u32 flags) {
    const u8 *glyph = font + 8 * (code - first);
    if (flags & REVERSE) { u32 t = fg; fg = bg; bg = t; }
    for (u32 y = 0; y < 8; y++) {
        u32 bits = glyph[y];
        if ((flags & UNDERLINE) && y == 7) bits = 0xFF;
        if ((flags & CROSSED_OUT) && y == 3) bits = 0xFF;
        for (u32 x = 0; x < 8; x++)
            screen[(8 * column + x) * 240 + 239 - (8 * row + y)] = bits & (0x80 >> x) ? fg : bg;
    }
}
static void print(u32 column, u32 row, const char *text, u32 fg, u32 bg, u32 flags) {
    for (; *text; text++) draw(column++, row, (u8)*text, fg, bg, flags);
}
static void show(u32 display, u32 at, u32 format, const char *what) {
    gsp_present(display, at, 480, format);
    for (u32 n = 0; n < 4; n++)
        while (!(gsp_wait() & 4)) ;
    say(what);
}
static void clear(u32 columns) { for (u32 n = 0; n < columns * 8 * 240; n++) screen[n] = 0; }

int main(void) {
    gsp_start();
    u32 top = linear(0x60000), bottom = linear(0x30000);
    screen = (u16 *)top;
    print(0, 0, "Hello, world!", WHITE, 0, PLAIN);
    print(2, 1, "Red", RED, 0, PLAIN);
    print(8, 1, "Yellow on blue", YELLOW, BLUE, PLAIN);
    print(0, 2, "Reverse (1 + 2 = 3)", WHITE, 0, REVERSE);
    print(0, 3, "Underlined, good: gypsy", WHITE, 0, UNDERLINE);
    print(0, 4, "Crossed out", WHITE, 0, CROSSED_OUT);
    print(50 - 9, 29, "the end.", WHITE, 0, PLAIN);
    for (u32 code = 0; code < 256; code++) draw(code % 32, 6 + code / 32, code, WHITE, 0, PLAIN);
    show(0, top, 0x42, "plain\n");
    screen = (u16 *)bottom;
    print(0, 0, "0123456789012345678901234567890123456789", WHITE, 0, PLAIN);
    show(1, bottom, 2, "bottom\n");
    screen = (u16 *)top;
    clear(100);
    print(0, 0, "This line has one hundred characters: a wide screen shows so many, half as wide as others are. 99,00", WHITE, 0, PLAIN);
    show(0, top, 2, "wide\n");
    font = bold_font; first = 32;
    clear(100);
    print(0, 0, "Another font, in bold letters: Hello!", WHITE, 0, PLAIN);
    print(0, 1, "[12345] <67890>", 0, WHITE, PLAIN);
    show(0, top, 0x42, "bold\n");
    clear(100);
    for (u32 n = 0; n < 400 * 240; n++) screen[n] = n * 7;
    show(0, top, 0x42, "picture\n");
    return 0;
}
