/* Prints as a console does that the GPU draws: the font is a texture, and each character two triangles with a part of it.
 * What is not of the text is that of scene.c. */
#define main main_of_scene
#include "scene.c"
#undef main
#include "fonts.h"

enum { GLYPH = 16, COLUMNS = WIDTH / GLYPH, ROWS = HEIGHT / GLYPH, IN_ROW = FONT_TEXELS / GLYPH, CORNERS = 6 };
enum { TEXT_SIZE = 0x10000, FONT_SIZE = 4 * FONT_TEXELS * FONT_TEXELS, TEXT = COLUMNS * ROWS * CORNERS * 24 };
static u8 *text_data;
static u64 text_at;
static float *corner;

static void make_font(void) {
    text_data = memory(TEXT_SIZE + FONT_SIZE, 0x1000);
    text_at = map(nv_memory(text_data, TEXT_SIZE + FONT_SIZE, 0), CACHED, 0, 0);
    u32 *texels = (u32 *)(text_data + TEXT_SIZE);
    for (u32 code = 0; code < 256; code++)
        for (u32 y = 0; y < GLYPH; y++)
            for (u32 x = 0; x < GLYPH; x++)
                texels[(code / IN_ROW * GLYPH + y) * FONT_TEXELS + code % IN_ROW * GLYPH + x] =
                    font[GLYPH * code + y] & 0x8000 >> x ? 0xFFC0C0C0u : 0xFF000000u;
    u64 first = text_at + TEXT_SIZE;
    STORE(data + HEADERS, font_header);
    STORE(data + SAMPLERS, nearest_sampler);
    ((u32 *)(data + HEADERS))[ADDRESS_LOW] |= (u32)first;
    ((u32 *)(data + HEADERS))[ADDRESS_HIGH] |= (u32)(first >> 32);
}

static void print(u32 column, u32 row, const char *text) {
    static const u32 order[CORNERS] = {0, 1, 2, 2, 1, 3};
    for (; *text; text++, column++)
        for (u32 n = 0; n < CORNERS; n++, corner += 6) {
            u32 right = order[n] & 1, down = order[n] >> 1, code = (u8)*text;
            corner[0] = (float)(2 * GLYPH * (column + right)) / (float)WIDTH - 1.0f;
            corner[1] = 1.0f - (float)(2 * GLYPH * (row + down)) / (float)HEIGHT;
            corner[2] = 0, corner[3] = 1;
            corner[4] = (float)(code % IN_ROW + right) / (float)IN_ROW;
            corner[5] = (float)(code / IN_ROW + down) / (float)IN_ROW;
        }
}

static void draw_text(u32 slot, const struct fences *before) {
    u32 *start = at = (u32 *)(data + COMMANDS), got[2];
    for (u32 n = 0; n < before->count; n++) {
        set(HOST_SYNCPOINTA, before->pairs[n][1]);
        set(HOST_SYNCPOINTB, WAIT_SYNCPOINT | before->pairs[n][0] << SYNCPOINT_SHIFT);
    }
    set(HOST_SET_OBJECT, CLASS_3D);
    set_up(slot, 0, 0, 0);
    set_address(SET_VERTEX_STREAM_A_LOCATION_A, text_at);
    set_address(SET_VERTEX_STREAM_LIMIT_A_A, text_at + TEXT - 1);
    set(SET_VERTEX_ARRAY_START, 0);
    set(BEGIN, TRIANGLES);
    set(DRAW_VERTEX_ARRAY, (u32)(corner - (float *)text_data) / 6);
    set(END, 0);
    set(HOST_SYNCPOINTB, INCREMENT | syncpoint << SYNCPOINT_SHIFT);
    check(kickoff(start, 1, got), "KickoffPb");
    fence++;
}

int main(void) {
    nv_start();
    open_all();
    make_memory();
    make_font();
    window_open();
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {image_memory, n * IMAGE, WIDTH, HEIGHT, 4 * WIDTH, RGBA8, 4};
        window_set(n, &one);
    }
    u32 slot;
    struct fences fences;
    corner = (float *)text_data;
    print(0, 0, "Drawn by the GPU:");
    print(2, 2, "{Quartz} ~ 50 %");
    print(COLUMNS - 8, ROWS - 1, "the end.");
    check((u32)window_wait(&slot, &fences), "DEQUEUE");
    draw_text(slot, &fences);
    struct fences mine = {1, {{syncpoint, fence}}};
    check((u32)window_show(slot, 1, 0, &mine), "QUEUE");
    check(wait_fence(syncpoint, fence, -1), "a fence");
    check((u32)window_disconnect(), "DISCONNECT");
    window_close();
    return 0;
}
