/* Drives the recorder into failures that only C can make.
 *
 *     failures memory         lets each allocation fail in turn; prints how many there were
 *     failures events FILE    records until the file can hold no more events; prints its frames
 *     failures stored FILE    records until loads have stored all that they may
 *
 * Exit status 1, with a line on stderr, if the recorder does anything else than it should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long allocations_left = -1; /* -1: no limit */
static int spare_pages;            /* there are hundreds of them, all alike */

static int may_allocate(size_t size)
{
    if (spare_pages && size > 4096 && size < 5000)
        return 1;
    if (allocations_left == 0)
        return 0;
    if (allocations_left > 0)
        allocations_left--;
    return 1;
}

static void *checked_calloc(size_t count, size_t size) { return may_allocate(count * size) ? calloc(count, size) : NULL; }
static void *checked_realloc(void *old, size_t size) { return may_allocate(size) ? realloc(old, size) : NULL; }

#define calloc checked_calloc
#define realloc checked_realloc
/* The real limit is reached after minutes of hashing. */
#define PGR__MOST_STORED (UINT64_C(1) << 27)
#define POCKETGPU_RECORDER_IMPLEMENTATION
#include "pocketgpu_recorder.h"

static size_t count_bytes(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return size;
}

static uint8_t memory[1 << 20];

static pgr_status record_3ds(void)
{
    size_t size = 0, i;
    uint32_t number;
    pgr_recorder *r = pgr_open_sink(count_bytes, &size, PGR_3DS, "failures");
    for (number = 0; number < 3; number++) {
        for (i = 0; i < sizeof memory; i++)
            memory[i] = (uint8_t)(i * i >> 7 ^ i ^ number * 77);
        pgr_write(r, 0x10400010, number);
        pgr_memory(r, 0x20000000 + number, memory, sizeof memory - number);
        pgr_gpu_wrote(r, 0x18000000 + (number << 20), memory, sizeof memory);
        for (i = 0; i < 2000; i++)
            pgr_write(r, 0x10400010, number);
        pgr_end_frame(r);
    }
    return pgr_close(r);
}

static pgr_status record_switch(void)
{
    size_t size = 0;
    uint32_t number;
    pgr_surface surface;
    pgr_recorder *r = pgr_open_sink(count_bytes, &size, PGR_SWITCH, "failures");
    for (number = 0; number < 200; number++) {
        pgr_map(r, (uint64_t)(number + 1) << 20, sizeof memory, number, 0);
        memory[number] ^= 0x55;
        pgr_handle_memory(r, number, 0, memory, 4096u * (number % 8));
        pgr_handle_gpu_wrote(r, number, 0, memory, 4096);
    }
    memset(&surface, 0, sizeof surface);
    surface.width = surface.height = 8;
    pgr_present(r, &surface);
    return pgr_close(r);
}

static int fail_each_allocation(pgr_status (*record)(void))
{
    long number;
    /* Some of all, and all that are no pages. */
    for (spare_pages = 0, number = 0; number < 8; number++) {
        allocations_left = number;
        if (record() != PGR_NO_MEMORY)
            return -1;
    }
    for (spare_pages = 1, number = 0;; number++) {
        pgr_status status;
        allocations_left = number;
        status = record();
        if (status == PGR_OK)
            return (int)number;
        if (status != PGR_NO_MEMORY || number > 1000)
            return -1;
    }
}

static int until_too_long(pgr_recorder *r, int stored)
{
    int frames = 0;
    while (pgr_get_status(r) == PGR_OK) {
        int i;
        if (stored)
            for (i = 0; i < 64; i++) {
                memset(memory, i & 1 ? 0x11 : 0x22, sizeof memory);
                pgr_memory(r, 0x20000000, memory, sizeof memory);
            }
        else
            for (i = 0; i < 1000000; i++)
                pgr_write_narrow(r, 0x10400010, 1, 8);
        if (pgr_end_frame(r) == PGR_OK)
            frames++;
    }
    return pgr_close(r) == PGR_TOO_LONG ? frames : -1;
}

int main(int count, char **arguments)
{
    int result = -1;
    if (count == 2 && strcmp(arguments[1], "memory") == 0) {
        const int first = fail_each_allocation(record_3ds), second = fail_each_allocation(record_switch);
        result = first < 0 || second < 0 ? -1 : first + second;
    } else if (count == 3) {
        const int stored = strcmp(arguments[1], "stored") == 0;
        result = until_too_long(pgr_open(arguments[2], PGR_3DS, "failures"), stored);
    }
    if (result < 0)
        fprintf(stderr, "%s: the recorder did something else\n", count > 1 ? arguments[1] : "no argument");
    else
        printf("%d\n", result);
    return result < 0;
}
