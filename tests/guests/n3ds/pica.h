/* Command lists and GX commands. The parts of lists that stay the same are in lists.h; uniforms are added here.
 * Registers: facts/n3ds/pica.tsv; GX commands: 3dbrew GSP Shared Memory. */
#pragma once
#include "runtime.h"
#include "lists.h"

#define VIRTUAL(physical) ((physical) < 0x20000000u ? (physical) - 0x18000000u + 0x1F000000u                           \
                                                    : (physical) - 0x20000000u + LINEAR)
#define PART(name) part(LIST_##name, sizeof LIST_##name / 4)
enum { PSC0 = 1, PSC1 = 2, PDC0 = 4, PDC1 = 8, PPF = 16, P3D = 32 };

static u32 *list_at, seen;

/* The compiler calls it. */
void *memset(void *place, int value, u32 size) {
    for (volatile u8 *p = place; size; size--) *p++ = value;
    return place;
}

static inline void part(const u32 *words, u32 count) { for (u32 i = 0; i < count; i++) *list_at++ = words[i]; }

/* Rows of uniforms from c[first] on; the unit takes w first. */
static inline void uniforms(u32 first, const float *rows, u32 count) {
    *list_at++ = 0x80000000u | first;
    *list_at++ = 0x000F02C0;
    for (u32 i = 0; i < 4 * count; i++) {
        union { float f; u32 u; } word = {rows[(i & ~3u) + 3 - (i & 3)]};
        *list_at++ = word.u;
        if (i == 0) *list_at++ = 0x000F02C1 | (4 * count - 1) << 20;
    }
    *list_at++ = 0; /* entries have an even number of words */
}

static inline void until(u32 bit) {
    while (!(seen & bit)) seen |= gsp_wait();
    seen &= ~bit;
}
static inline void begin_list(void) { list_at = (u32 *)VIRTUAL(LIST); }
static inline void run_list(void) {
    u32 start = VIRTUAL(LIST);
    if ((u32)list_at & 8) { list_at[0] = list_at[-2]; list_at[1] = list_at[-1]; list_at += 2; } /* of 16 bytes */
    gx(1, start, (u32)list_at - start, 0, 0, 0, 0, 0);
    until(P3D);
}
/* Fill two buffers with words. */
static inline void fill(u32 color, u32 color_size, u32 value, u32 depth, u32 depth_size, u32 depth_value) {
    gx(2, VIRTUAL(color), value, VIRTUAL(color) + color_size, VIRTUAL(depth), depth_value, VIRTUAL(depth) + depth_size,
       0x02010201);
    until(PSC0);
}
/* Tiles of RGBA8 become rows of RGB8. */
static inline void transfer(u32 from, u32 to, u32 width, u32 height) {
    gx(3, VIRTUAL(from), VIRTUAL(to), height << 16 | width, height << 16 | width, 1 << 12, 0, 0);
    until(PPF);
}
static inline void copy(u32 from, u32 to, u32 size) { gx(0, VIRTUAL(from), VIRTUAL(to), size, 0, 0, 0, 0); }
/* A picture for each eye. */
static inline void gsp_present_stereo(u32 left, u32 right, u32 stride, u32 format) {
    volatile u8 *info = gsp_shared + 0x200 + 0x80 * gsp_client;
    u8 next = info[0] ^ 1;
    volatile u32 *entry = (volatile u32 *)(info + 4 + 28 * next);
    u32 words[7] = {next, left, right, stride, format, next, 0};
    for (u32 i = 0; i < 7; i++) entry[i] = words[i];
    info[0] = next;
    info[1] = 1;
}
static inline void vblank(void) { seen &= ~PDC0; until(PDC0); }

/* Of a place in a square of tiles of 8 by 8 texels. */
static inline u32 tiled(u32 x, u32 y, u32 size) {
    u32 in = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 4) << 2 | (y & 4) << 3;
    return ((y >> 3) * (size >> 3) + (x >> 3)) * 64 + in;
}

struct vertex { float position[3], normal[3], uv[2]; };
/* Six faces, four corners each. */
static inline void make_cube(void) {
    struct vertex *v = (struct vertex *)VIRTUAL(VERTICES);
    u16 *index = (u16 *)VIRTUAL(INDICES);
    for (u32 face = 0; face < 6; face++) {
        u32 axis = face >> 1, across = (axis + 1) % 3, up = (axis + 2) % 3;
        float side = face & 1 ? -1.0f : 1.0f;
        for (u32 corner = 0; corner < 4; corner++, v++) {
            float a = corner & 1 ? 1.0f : -1.0f, b = corner & 2 ? 1.0f : -1.0f;
            for (u32 i = 0; i < 3; i++) v->normal[i] = 0;
            v->position[axis] = v->normal[axis] = side;
            v->position[across] = a;
            v->position[up] = b;
            v->uv[0] = (a + 1) / 2;
            v->uv[1] = (b + 1) / 2;
        }
        for (u32 i = 0; i < 6; i++) *index++ = 4 * face + (i < 3 ? i : 6 - i);
    }
}

/* Rotation about x and y by sines and cosines; a screen that lies on its side; both as rows of uniforms. */
struct turn { float sine, cosine; };
static inline void turn_by(struct turn *t, float sine, float cosine) {
    float s = t->sine * cosine + t->cosine * sine, c = t->cosine * cosine - t->sine * sine, more = (3 - s * s - c * c) / 2;
    t->sine = s * more;
    t->cosine = c * more;
}
static inline void camera(struct turn x, struct turn y, float right, float distance, float aspect) {
    float r[3][3] = {{y.cosine, 0, y.sine},
                     {x.sine * y.sine, x.cosine, -x.sine * y.cosine},
                     {-x.cosine * y.sine, x.sine, x.cosine * y.cosine}};
    const float near = 1, far = 12, zoom = 2, a = near / (far - near);
    float rows[8][4] = {{0}};
    for (u32 i = 0; i < 3; i++) {
        rows[0][i] = zoom * r[1][i];
        rows[1][i] = -zoom / aspect * r[0][i];
        rows[2][i] = -a * r[2][i];
        rows[3][i] = -r[2][i];
        for (u32 j = 0; j < 3; j++) rows[4 + j][i] = r[j][i];
    }
    rows[1][3] = -zoom / aspect * right;
    rows[2][3] = a * distance - a * far;
    rows[3][3] = distance;
    rows[7][0] = 0.4f;
    rows[7][1] = 0.5f;
    rows[7][2] = 0.7f;
    uniforms(0, rows[0], 8);
}
