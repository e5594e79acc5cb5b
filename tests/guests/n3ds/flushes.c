/* What is written is flushed, but for a part that each step forgets: the GPU of a console would read older bytes. */
#include "pica.h"
static u32 list_size;
static void flush(u32 physical, u32 size) {
    u32 *m = message();
    m[0] = 0x00080082; m[1] = VIRTUAL(physical); m[2] = size; m[3] = 0; m[4] = CURRENT_PROCESS;
    check(svc_send(gsp, 0, 0, 0, 0, 0, 0), "FlushDataCache");
}
static void __attribute__((noinline)) draw_scene(void) {
    fill(COLOR, 240 * 400 * 4, 0x305070FF, DEPTH, 240 * 400 * 4, 0);
    gx(1, VIRTUAL(LIST), list_size, 0, 0, 0, 0, 0);
    until(P3D);
    transfer(COLOR, 0x20100000, 240, 400);
}
static void __attribute__((noinline)) show(const char *what) {
    draw_scene();
    gsp_present(0, VIRTUAL(0x20100000), 720, 1 | 0x40);
    vblank();
    say(what);
    say("\n");
}

int main(void) {
    gsp_start();
    if (linear(0x800000) != LINEAR) return 1;
    u32 *texel = (u32 *)VIRTUAL(TEXTURE), count = TEXTURE_SIZE * TEXTURE_SIZE;
    for (u32 i = 0; i < count; i++) texel[i] = i << 8 | 255;
    make_cube();
    struct turn x = {0.35f, 0.93675f}, y = {0.6f, 0.8f};
    begin_list();
    PART(STATE);
    PART(TOP);
    PART(IMAGE);
    camera(x, y, 0, 4, 1.6667f);
    PART(CUBE);
    PART(END);
    if ((u32)list_at & 8) { list_at[0] = list_at[-2]; list_at[1] = list_at[-1]; list_at += 2; }
    list_size = (u32)list_at - VIRTUAL(LIST);
    flush(VERTICES, 24 * sizeof(struct vertex));
    flush(INDICES, 72);
    flush(TEXTURE, 4 * count);
    flush(LIST, list_size);
    show("all flushed");
    texel[100] ^= 0xFFFFFF00u;
    show("one texel");
    flush(TEXTURE + 400, 4);
    show("flushed later");
    texel[100] ^= 0xFF000000u;
    texel[100] ^= 0xFF000000u;
    show("same bytes");
    ((struct vertex *)VIRTUAL(VERTICES))[3].position[1] += 0.125f;
    ((u16 *)VIRTUAL(INDICES))[7] = 6;
    show("a vertex and an index");
    flush(VERTICES, 0x2000);
    gx(5, VIRTUAL(TEXTURE), 4 * count, 0, 0, 0, 0, 0);
    ((u32 *)VIRTUAL(LIST))[0] ^= 0x01000000u;
    show("the list");
    gx(1, VIRTUAL(LIST), list_size, 0, 0, 0, 0, 1);
    until(P3D);
    u8 *row = (u8 *)VIRTUAL(0x20100000) + 100 * 720;
    for (u32 i = 0; i < 720; i++) row[i] ^= 255;
    vblank();
    say("a row\n");
    flush(0x20100000, 240 * 400 * 3);
    vblank();
    say("flushed\n");
    return 0;
}
