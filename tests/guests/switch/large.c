/* Moving pictures of 1280 x 720 without end, or as many as an argument says: a texture that covers them, mixed between
 * its texels, so that all pixels change in each of them. */
#include "services.h"
#include "large_data.h"
#define main main_of_scene
#include "scene.c"
#undef main

enum { CORNERS = 6 };

static void draw_all(u32 number, u32 slot, const struct fences *before) {
    static const float corners[CORNERS][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, -1}, {1, 1}, {-1, 1}};
    float *vertex = (float *)(data + VERTICES), moved = (float)(number % 256) / 256.0f;
    for (u32 n = 0; n < CORNERS; n++, vertex += 6) {
        vertex[0] = corners[n][0], vertex[1] = corners[n][1], vertex[2] = 0, vertex[3] = 1;
        vertex[4] = 2 * corners[n][0] + moved, vertex[5] = corners[n][1] + moved;
    }
    u32 *start = at = (u32 *)(data + COMMANDS + 0x1000 * (number % FRAMES)), got[2];
    for (u32 n = 0; n < before->count; n++) {
        set(HOST_SYNCPOINTA, before->pairs[n][1]);
        set(HOST_SYNCPOINTB, WAIT_SYNCPOINT | before->pairs[n][0] << SYNCPOINT_SHIFT);
    }
    set(HOST_SET_OBJECT, CLASS_3D);
    set_up(slot, 0, 0, 0);
    set_address(SET_VERTEX_STREAM_A_LOCATION_A, data_at + VERTICES);
    set_address(SET_VERTEX_STREAM_LIMIT_A_A, data_at + VERTICES + CORNERS * 24 - 1);
    set(SET_VERTEX_ARRAY_START, 0);
    set(BEGIN, TRIANGLES);
    set(DRAW_VERTEX_ARRAY, CORNERS);
    set(END, 0);
    set(HOST_SYNCPOINTB, INCREMENT | syncpoint << SYNCPOINT_SHIFT);
    check(kickoff(start, 1, got), "KickoffPb");
    fence++;
}

int main(void) {
    nv_start();
    open_all();
    make_memory();
    window_open();
    for (u32 n = 0; n < 2; n++) {
        struct buffer one = {image_memory, n * IMAGE, WIDTH, HEIGHT, 4 * WIDTH, RGBA8, 4};
        window_set(n, &one);
    }
    u32 count = argument(1) ? number_of(argument(1)) : ~0u;
    for (u32 n = 0; n < count; n++) {
        u32 slot;
        struct fences fences, mine = {1, {{syncpoint, fence + 1}}};
        check((u32)window_wait(&slot, &fences), "DEQUEUE");
        draw_all(n, slot, &fences);
        check((u32)window_show(slot, 1, 0, &mine), "QUEUE");
        check(wait_fence(syncpoint, fence, -1), "a fence");
    }
    check((u32)window_disconnect(), "DISCONNECT");
    window_close();
    close_all();
    say("done\n");
    return 0;
}
