/* Records a small Switch scene with pocketgpu_recorder.h.
 *
 *     cc -std=c99 -O2 -o example_switch example_switch.c
 *     ./example_switch scene.pgc
 *     pocketgpu render scene.pgc
 *
 * The first half plays the emulator's side of the driver: memory handles, an address space, a channel, a screen. The
 * second half plays the program, which clears a surface and two rectangles in it, in other colours for each frame.
 */
#define POCKETGPU_RECORDER_IMPLEMENTATION
#include "pocketgpu_recorder.h"

#include <stdio.h>
#include <string.h>

/* ---- the emulator ------------------------------------------------------------------------------------------------ */

#define WIDTH 320u
#define HEIGHT 180u
#define SURFACE_SIZE 327680u /* blocks of 64 bytes x 128 rows: 20 blocks side by side, 2 below each other */
#define COMMANDS_SIZE 4096u

enum { SURFACE = 1, COMMANDS = 2 }; /* handles */
static const uint64_t surface_address = UINT64_C(0x500000000);
static const uint64_t commands_address = UINT64_C(0x500100000);

static uint8_t commands[COMMANDS_SIZE];
static pgr_recorder *recorder;

/* The program maps memory for the GPU. */
static void map_buffer(uint64_t address, uint64_t size, uint32_t handle)
{
    pgr_map(recorder, address, size, handle, 0);
}

/* The program hands over GPFIFO entries. What the processor has written for the GPU is recorded before it. */
static void submit_gpfifo(uint32_t channel, const uint64_t *entries, uint32_t count)
{
    pgr_handle_memory(recorder, COMMANDS, 0, commands, COMMANDS_SIZE);
    pgr_submit(recorder, channel, entries, count);
    /* A real emulator draws now, and then calls pgr_handle_gpu_wrote for surfaces that it has stored to memory. */
}

/* The program queues a buffer of its window. */
static void queue_buffer(uint32_t handle)
{
    pgr_surface shown;
    memset(&shown, 0, sizeof shown);
    shown.gpu_address = surface_address;
    shown.has_handle = 1;
    shown.handle = handle;
    shown.width = WIDTH;
    shown.height = HEIGHT;
    shown.format = PGR_RGBA8;
    shown.block_linear = 1;
    shown.block_height_log2 = 4;
    shown.stride = 4 * WIDTH;
    pgr_present(recorder, &shown);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static uint32_t used;

static void word(uint32_t value)
{
    commands[used] = (uint8_t)value;
    commands[used + 1] = (uint8_t)(value >> 8);
    commands[used + 2] = (uint8_t)(value >> 16);
    commands[used + 3] = (uint8_t)(value >> 24);
    used += 4;
}

/* The header of a packet that counts up from a method, and one that holds its value. */
static void methods(uint32_t address, uint32_t count) { word(1u << 29 | count << 16 | address / 4); }
static void method(uint32_t address, uint32_t value) { word(1u << 31 | value << 16 | address / 4); }

static void clear(uint32_t x, uint32_t y, uint32_t width, uint32_t height, const float color[4])
{
    uint32_t i;
    methods(0x0E00, 3); /* SET_SCISSOR_ENABLE(0), HORIZONTAL, VERTICAL: end and start */
    word(1);
    word((x + width) << 16 | x);
    word((y + height) << 16 | y);
    methods(0x0D80, 4); /* SET_COLOR_CLEAR_VALUE */
    for (i = 0; i < 4; i++) {
        uint32_t bits;
        memcpy(&bits, color + i, 4);
        word(bits);
    }
    method(0x10F8, 0x100); /* SET_CLEAR_SURFACE_CONTROL: the scissor counts */
    method(0x19D0, 0x3C);  /* CLEAR_SURFACE: all four components of target 0 */
}

static void draw_frame(uint32_t number)
{
    const float back[4] = {0.1f, 0.2f, 0.4f, 1};
    const float bright[4] = {1, 0.25f * (float)number, 0.2f, 1};
    uint64_t entry;

    used = 0;
    methods(0, 1), word(0xB197); /* SET_OBJECT: subchannel 0 is the 3D class */
    methods(0x0800, 9);          /* SET_COLOR_TARGET_A(0) and what follows it */
    word((uint32_t)(surface_address >> 32)), word((uint32_t)surface_address);
    word(WIDTH), word(HEIGHT);
    word(0xD5);                  /* A8B8G8R8 */
    word(4 << 4), word(1);       /* block linear, blocks of 16 x 8 rows; one layer */
    word(SURFACE_SIZE / 4), word(0);
    methods(0x0FF4, 2), word(WIDTH << 16), word(HEIGHT << 16); /* SET_SURFACE_CLIP */
    clear(0, 0, WIDTH, HEIGHT, back);
    clear(40 + 20 * number, 30, 100, 60, bright);
    clear(200, 100 - 10 * number, 60, 50, bright);

    entry = commands_address | (uint64_t)1 << 41 | (uint64_t)(used / 4) << 42;
    submit_gpfifo(0, &entry, 1);
    queue_buffer(SURFACE);
}

int main(int count, char **arguments)
{
    uint32_t number;

    if (count != 2) {
        fprintf(stderr, "usage: %s FILE.pgc\n", arguments[0]);
        return 2;
    }
    recorder = pgr_open(arguments[1], PGR_SWITCH, "example_switch");
    pgr_covers(recorder, PGR_COVERS_POWER_ON | PGR_COVERS_ALL_CHANGES);

    map_buffer(surface_address, SURFACE_SIZE, SURFACE);
    map_buffer(commands_address, COMMANDS_SIZE, COMMANDS);
    for (number = 0; number < 3; number++)
        draw_frame(number);

    /* Calls after a failure do nothing, so it is enough to ask at the end. */
    if (pgr_close(recorder) != PGR_OK) {
        fprintf(stderr, "%s could not be recorded\n", arguments[1]);
        return 1;
    }
    return 0;
}
