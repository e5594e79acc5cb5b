/* A textured, lit cube that turns, by command lists. Its texture is another turning cube, which is drawn first.
 * 60 frames on both screens, 60 with an eye each on the upper one, 60 with 800 columns, and again. */
#include "pica.h"
#define FRAMES 60
static u32 buffer(u32 number) { return 0x20100000u + 0xC0000u * number; }

static void cube(u32 target_words, const u32 *target, struct turn x, struct turn y, float right, float distance, float aspect) {
    begin_list();
    PART(STATE);
    part(target, target_words);
    PART(PICTURE);
    camera(x, y, right, distance, aspect);
    PART(CUBE);
    camera(y, x, right - 2, distance + 4, aspect);
    PART(CUBE);
    camera(y, y, right + 2, distance + 4, aspect);
    PART(CUBE);
    PART(END);
    run_list();
}
#define DRAW(name, ...) cube(sizeof LIST_##name / 4, LIST_##name, __VA_ARGS__)

int main(void) {
    gsp_start();
    if (linear(0x800000) != LINEAR) return 1;
    u32 *texel = (u32 *)VIRTUAL(TEXTURE);
    for (u32 y = 0; y < TEXTURE_SIZE; y++)
        for (u32 x = 0; x < TEXTURE_SIZE; x++)
            texel[tiled(x, y, TEXTURE_SIZE)] = ((x ^ y) & 8 ? 0xE0C04000u : 0x2060C000u) + (x << 16) + (y << 8) + 255;
    make_cube();
    struct turn x = {0, 1}, y = {0, 1};
    for (u32 frame = 0;; frame++) {
        u32 mode = frame / FRAMES % 3, one = frame & 1;
        u32 height = mode == 2 ? 800 : 400, size = 240 * height * 4, top = buffer(3 * one), more = buffer(3 * one + 1);
        turn_by(&x, 0.0199987f, 0.9998f);
        turn_by(&y, 0.0349929f, 0.999388f);
        fill(RENDERED, RENDERED_SIZE * RENDERED_SIZE * 4, 0x806040FF, RENDERED_DEPTH, RENDERED_SIZE * RENDERED_SIZE * 4, 0);
        begin_list();
        PART(STATE);
        PART(SMALL);
        PART(IMAGE);
        camera(y, x, 0, 5, 1);
        PART(CUBE);
        PART(END);
        run_list();
        fill(COLOR, size, 0x305070FF, DEPTH, size, 0);
        if (mode == 2) DRAW(WIDE, x, y, 0, 5, 1.6667f);
        else DRAW(TOP, x, y, mode ? -0.1f : 0, 5, 1.6667f);
        transfer(COLOR, top, 240, height);
        fill(COLOR, size, 0x503040FF, DEPTH, size, 0);
        if (mode == 1) DRAW(TOP, x, y, 0.1f, 5, 1.6667f);
        else DRAW(BOTTOM, y, x, 0, 5, 1.3333f);
        transfer(COLOR, more, 240, mode == 1 ? 400 : 320);
        if (mode == 1) gsp_present_stereo(VIRTUAL(top), VIRTUAL(more), 720, 1 | 0x20);
        else {
            gsp_present(0, VIRTUAL(top), 720, mode == 2 ? 1 : 1 | 0x40);
            gsp_present(1, VIRTUAL(more), 720, 1);
        }
        vblank();
        if (frame % FRAMES == FRAMES - 1) say_number("frames", frame + 1);
    }
}
