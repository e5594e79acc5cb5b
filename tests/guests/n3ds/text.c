/* Text by the shared system font, drawn by the processor from its sheets. */
#include "services.h"
#define W 400
#define H 240
static u8 *picture;
static u32 word_at(u32 address) { return *(volatile u32 *)address; }
static u16 half_at(u32 address) { return *(volatile u16 *)address; }
static u8 byte_at(u32 address) { return *(volatile u8 *)address; }
static u32 font;
static u32 glyph_of(u32 code) {
    for (u32 map = word_at(font + 0x2C); map; map = word_at(map + 8)) {
        u32 first = half_at(map), last = half_at(map + 2), method = half_at(map + 4);
        if (code < first || code > last) continue;
        if (method == 0) return half_at(map + 12) + code - first;
        u32 count = half_at(map + 12);
        for (u32 i = 0; i < count; i++)
            if (half_at(map + 14 + 4 * i) == code) return half_at(map + 16 + 4 * i);
    }
    return half_at(font + 0x1E);
}
static u32 draw(u32 code, u32 x, u32 y) { /* the next place */
    u32 glyph = glyph_of(code), sheets = word_at(font + 0x24), widths = word_at(font + 0x28);
    u32 width = byte_at(widths + 8 + 3 * glyph + 1), advance = byte_at(widths + 8 + 3 * glyph + 2);
    s32 left = (signed char)byte_at(widths + 8 + 3 * glyph);
    u32 columns = half_at(sheets + 12), sheet = glyph / columns, column = glyph % columns;
    u32 across = half_at(sheets + 16), cell = byte_at(sheets), height = byte_at(sheets + 1);
    u32 texels = word_at(sheets + 20) + sheet * word_at(sheets + 4);
    for (u32 v = 0; v < height; v++)
        for (u32 u = 0; u < width; u++) {
            u32 tx = column * (cell + 1) + 1 + u, ty = 1 + v, in_tile = 0;
            for (u32 bit = 0; bit < 3; bit++) in_tile |= (tx >> bit & 1) << 2 * bit | (ty >> bit & 1) << (2 * bit + 1);
            u32 n = (ty / 8 * (across / 8) + tx / 8) * 64 + in_tile;
            u32 alpha = byte_at(texels + n / 2) >> (n & 1 ? 4 : 0) & 15;
            u32 px = x + left + u, py = y + v;
            if (alpha && px < W && py < H) {
                u8 *p = picture + (px * H + (H - 1 - py)) * 3;
                p[0] = p[1] = p[2] = alpha * 17;
            }
        }
    return x + advance;
}
int main(void) {
    u32 *m = message(), apt = service("APT:U");
    gsp_start();
    u32 result = ask(apt, 0x00440000);
    say_hex("font", result);
    if (result) return 0;
    u32 place = m[2];
    say_hex("mapped", svc_map_block(m[4], 0, 1, 0x10000000, 0, 0, 0));
    font = place + 0x80;
    say_hex("signature", word_at(font));
    picture = (u8 *)linear(0x100000);
    static const u16 lines[3][16] = {
        {'H', 'e', 'l', 'l', 'o', ',', ' ', 'W', 'o', 'r', 'l', 'd', '!'},
        {0x416, 0xE9, 0x3B1, 0x20AC, 0x2192, 0xDF, ' ', 0xE000, 0xE003, 0x65E5},
        {'j', 'g', 'p', '|', 'W', '.', 'i', ' ', '0', '1', '2', '3'},
    };
    for (u32 line = 0; line < 3; line++)
        for (u32 i = 0, x = 10; lines[line][i]; i++) x = draw(lines[line][i], x, 20 + 40 * line);
    gsp_present(0, (u32)picture, H * 3, 1 | 0x40);
    while (!(gsp_wait() & 4)) ;
    while (!(gsp_wait() & 4)) ;
    say("shown\n");
    return 0;
}
