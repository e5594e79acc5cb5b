/* Between two pictures the processor rewrites one thing in place: nothing is flushed, no address changes. */
#include "pica.h"
static u32 list_size;
static void draw(const char *what) {
    fill(COLOR, 240 * 400 * 4, 0x305070FF, DEPTH, 240 * 400 * 4, 0);
    gx(1, VIRTUAL(LIST), list_size, 0, 0, 0, 0, 0);
    until(P3D);
    transfer(COLOR, 0x20100000, 240, 400);
    gsp_present(0, VIRTUAL(0x20100000), 720, 1 | 0x40);
    vblank();
    say(what);
    say("\n");
}
static void make_list(int rendered) {
    struct turn x = {0.35f, 0.93675f}, y = {0.6f, 0.8f};
    begin_list();
    PART(STATE);
    PART(TOP);
    if (rendered) PART(PICTURE); else PART(IMAGE);
    camera(x, y, 0, 4, 1.6667f);
    PART(CUBE);
    PART(END);
    if ((u32)list_at & 8) { list_at[0] = list_at[-2]; list_at[1] = list_at[-1]; list_at += 2; }
    list_size = (u32)list_at - VIRTUAL(LIST);
}
/* The parameter of the last entry in the list that writes a register. */
static u32 *entry(u32 id) {
    u32 *word = (u32 *)VIRTUAL(LIST), *end = word + list_size / 4, *found = 0;
    for (; word < end; word += 2 + (((word[1] >> 20 & 0xFF) + 1) & ~1u))
        if ((word[1] & 0xFFFF) == id) found = word;
    return found;
}

int main(void) {
    gsp_start();
    if (linear(0x800000) != LINEAR) return 1;
    u32 *texel = (u32 *)VIRTUAL(TEXTURE), *spare = (u32 *)VIRTUAL(0x20300000), count = TEXTURE_SIZE * TEXTURE_SIZE;
    for (u32 y = 0; y < TEXTURE_SIZE; y++)
        for (u32 x = 0; x < TEXTURE_SIZE; x++)
            texel[tiled(x, y, TEXTURE_SIZE)] = ((x ^ y) & 8 ? 0xE0C04000u : 0x2060C000u) + (x << 16) + (y << 8) + 255;
    for (u32 i = 0; i < count; i++) spare[i] = texel[i] ^ 0x00FF0000u;
    make_cube();
    make_list(0);
    draw("first");
    draw("same");
    texel[tiled(20, 20, TEXTURE_SIZE)] = 0xFFFFFFFFu;
    draw("texel");
    texel[tiled(20, 20, TEXTURE_SIZE)] = 0xFF0000FFu;
    draw("texel again");
    struct vertex *v = (struct vertex *)VIRTUAL(VERTICES);
    v[9].position[0] += 0.25f;
    draw("vertex");
    ((u16 *)VIRTUAL(INDICES))[13] = 10;
    draw("index");
    *(float *)(entry(0x2C0) + 6) *= 1.25f; /* x of the first row: after w, a header, z and y */
    draw("uniform");
    entry(0xC2)[0] ^= 1; /* the combiner's operation */
    draw("list");
    fill(TEXTURE, 4 * count, 0x40C080FFu, 0x20400000, 16, 0);
    draw("filled");
    for (u32 i = 0; i < count; i++) ((volatile u32 *)texel)[i] = 0x40C080FFu;
    draw("same bytes");
    texel[tiled(40, 30, TEXTURE_SIZE)] = 0x0000FFFFu;
    draw("texel after fill");
    copy(0x20300000, TEXTURE, 4 * count);
    draw("copied");
    for (u32 i = 0; i < count; i++) texel[i] = 0x40C080FFu;
    texel[tiled(40, 30, TEXTURE_SIZE)] = 0x0000FFFFu;
    draw("bytes of before");
    copy(0x20300000, TEXTURE, 4 * count);
    for (u32 i = 0; i < count; i++) texel[i] = 0x40C080FFu;
    texel[tiled(40, 30, TEXTURE_SIZE)] = 0x0000FFFFu;
    draw("bytes of before at once");
    fill(RENDERED, RENDERED_SIZE * RENDERED_SIZE * 4, 0x806040FFu, 0x20400000, 16, 0);
    make_list(1);
    draw("rendered");
    ((u32 *)VIRTUAL(RENDERED))[tiled(60, 60, RENDERED_SIZE)] = 0xFFFFFFFFu;
    draw("texel in video memory");
    u8 *row = (u8 *)VIRTUAL(0x20100000) + 100 * 720;
    for (u32 i = 0; i < 720; i++) row[i] = 255;
    vblank();
    say("row\n");
    vblank();
    return 0;
}
