/* Frames that the processor draws, in each format of a framebuffer: a slope of red across, of green down. */
#include "runtime.h"
#define W 400
#define H 240
int main(void) {
    gsp_start();
    u32 at = linear(0x100000);
    for (u32 format = 0; format < 5; format++) {
        u32 size = format == 0 ? 4 : format == 1 ? 3 : 2;
        u8 *base = (u8 *)at;
        for (u32 x = 0; x < W; x++)
            for (u32 y = 0; y < H; y++) {
                u32 r = x * 255 / (W - 1), g = y * 255 / (H - 1), b = 40 * format;
                u8 *p = base + (x * H + (H - 1 - y)) * size;
                if (format == 0) { p[0] = 255; p[1] = b; p[2] = g; p[3] = r; }
                else if (format == 1) { p[0] = b; p[1] = g; p[2] = r; }
                else {
                    u32 v = format == 2 ? (r >> 3) << 11 | (g >> 2) << 5 | b >> 3
                          : format == 3 ? (r >> 3) << 11 | (g >> 3) << 6 | (b >> 3) << 1 | 1
                                        : (r >> 4) << 12 | (g >> 4) << 8 | (b >> 4) << 4 | 15;
                    p[0] = v; p[1] = v >> 8;
                }
            }
        gsp_present(0, at, H * size, format | 0x40);
        while (!(gsp_wait() & 4)) ;
        while (!(gsp_wait() & 4)) ;
        say_number("shown", format);
    }
    return 0;
}
