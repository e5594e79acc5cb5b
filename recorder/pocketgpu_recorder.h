/* pocketgpu_recorder.h: writes .pgc recordings of what a 3DS or Switch program asks its GPU to do.
 *
 * For emulators and tools. One file, C99 or C++11, nothing but the standard library. In one source file:
 *
 *     #define POCKETGPU_RECORDER_IMPLEMENTATION
 *     #include "pocketgpu_recorder.h"
 *
 * and in the others only the #include. A 3DS recording in short (docs/guides/recorder.md has the long form):
 *
 *     pgr_recorder *r = pgr_open("scene.pgc", PGR_3DS, "my emulator 1.2");
 *     pgr_state(r, PGR_CORE, 0, registers, 768);               what holds at the start, unless it is power-on
 *     ...
 *     pgr_memory(r, 0x20000000, fcram, fcram_size);            before the GPU reads memory
 *     pgr_write(r, 0x104018F0, 1);                             each write to an external register, in order
 *     pgr_gpu_wrote(r, address, bytes, size);                  after the emulator's GPU has stored something
 *     pgr_end_frame(r);                                        at each VBlank
 *     ...
 *     if (pgr_close(r) != PGR_OK) ...
 *
 * The recorder keeps a copy of what the replay's memory will hold and writes what differs from it, each content once.
 * Its own memory is that copy: as much as the program uses of the console's.
 *
 * All calls return a status. After a failure (a full disk, no memory, a call with invalid arguments) they do nothing
 * and return it again, and so does pgr_close: it is enough to check there. A recorder may be NULL; the status is then
 * PGR_NO_MEMORY. A recorder is not thread-safe: use it on the thread that feeds the GPU, or hold a lock.
 *
 * The file grows in the order of calls, and nothing in it changes later: after a crash all complete frames are there,
 * and `pocketgpu capture repair` makes a good file of them.
 * Equal calls give equal bytes on every computer. Pictures are not recorded; `pocketgpu convert` renders them, adds
 * their digests and packs the file. The format is described in docs/formats/pgc.md.
 *
 * Licence: MIT, like all of pocketgpu.
 */
#ifndef POCKETGPU_RECORDER_H
#define POCKETGPU_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PGR_FORMAT_VERSION 1

typedef struct pgr_recorder pgr_recorder;

typedef enum pgr_status {
    PGR_OK = 0,
    PGR_NO_MEMORY, /* the host has no memory left */
    PGR_IO,        /* the file could not be opened or written */
    PGR_BAD_CALL,  /* an argument out of its range, a call for the other console, or one that comes too late */
    PGR_TOO_LONG   /* what a file can hold is reached (2 GiB, 2^22 events); all frames before are in it */
} pgr_status;

typedef enum pgr_console { PGR_3DS = 1, PGR_SWITCH = 2 } pgr_console;

/* Takes `size` bytes; returns how many it took, fewer if it failed. */
typedef size_t (*pgr_sink)(void *user, const void *data, size_t size);

/* Start a recording to a file, which is replaced. recorder_name: who records, UTF-8, such as "my emulator 1.2".
 * Returns NULL without memory; later calls return any other failure. */
pgr_recorder *pgr_open(const char *path, pgr_console console, const char *recorder_name);

/* The same, to a function of yours instead of a file. */
pgr_recorder *pgr_open_sink(pgr_sink sink, void *user, pgr_console console, const char *recorder_name);

/* End the recording and free the recorder. What was recorded after the last complete frame is left out. */
pgr_status pgr_close(pgr_recorder *r);

/* What has gone wrong so far, and a sentence about a status. */
pgr_status pgr_get_status(const pgr_recorder *r);
const char *pgr_status_text(pgr_status status);

/* ---- before the first event -------------------------------------------------------------------------------------- */

/* A note for people, UTF-8, below 64 KiB, such as ("title", "Some Game"). */
pgr_status pgr_about(pgr_recorder *r, const char *key, const char *value);

/* What the recording covers, so that readers know what zeros mean. On a 3DS pgr_state says its part by itself. */
#define PGR_COVERS_POWER_ON 0x03FFu       /* it begins at power-on: what pgr_state does not give has its reset value */
#define PGR_COVERS_VRAM 0x0400u           /* 3DS: pgr_memory is called for all of VRAM that the GPU reads */
#define PGR_COVERS_FCRAM 0x0800u          /* 3DS: and of all of main memory */
#define PGR_COVERS_MAPPINGS 0x0001u       /* Switch: all mappings are recorded, those from before it too */
#define PGR_COVERS_CHANNELS 0x0002u       /* Switch: pgr_channel_state is called for all channels in use */
#define PGR_COVERS_MACROS 0x0004u         /* Switch: and of their macro engines */
#define PGR_COVERS_HANDLES 0x0008u        /* Switch: pgr_handle_memory is called for all memory that the GPU reads */
#define PGR_COVERS_SYNCPOINTS 0x0010u     /* Switch: pgr_syncpoint is called for all syncpoints in use */
#define PGR_COVERS_ALL_CHANGES 0x20000u   /* every byte that the processor changes and the GPU reads is recorded */
pgr_status pgr_covers(pgr_recorder *r, uint32_t bits);

/* Memories of the 3DS GPU, in words. Floats of 24 bits are in the low bits of a word; vectors are x, y, z, w. */
typedef enum pgr_item {
    PGR_EXTERNAL = 0,       /* 1024: registers from 0x10400000 */
    PGR_LCD = 1,            /* 1024: registers from 0x10202000 */
    PGR_CORE = 2,           /* 768: registers of the 3D core, by id */
    PGR_FIXED = 3,          /* 64: fixed vertex attributes, 16 vectors */
    PGR_VS_CODE = 4,        /* 512 */
    PGR_VS_OPERANDS = 5,    /* 128: operand descriptors */
    PGR_VS_UNIFORMS = 6,    /* 384: 96 vectors */
    PGR_GS_CODE = 7,        /* 4096 */
    PGR_GS_OPERANDS = 8,    /* 128 */
    PGR_GS_UNIFORMS = 9,    /* 384 */
    PGR_LIGHTING = 10,      /* 6144: 24 tables of 256 entries, as LIGHTING_LUT_DATA takes them */
    PGR_FOG = 11,           /* 128 */
    PGR_PROCTEX = 12,       /* 896: noise, colour map, alpha map (128 each), colours, differences (256 each) */
    PGR_GAS = 13,           /* 16 */
    PGR_VS_UNIFORMS_F32 = 14, /* 384: instead of PGR_VS_UNIFORMS, the bits of 32-bit floats */
    PGR_GS_UNIFORMS_F32 = 15, /* 384: the same for PGR_GS_UNIFORMS */
    PGR_SUBCHANNELS = 64,   /* Switch, 8: the class that each subchannel is bound to */
    PGR_METHODS = 65,       /* 4096: registers of a class, by method address / 4 */
    PGR_SHADOW_METHODS = 66, /* 4096: its shadow RAM */
    PGR_SHADOW_MODE = 67,   /* 1 */
    PGR_MACRO_CODE = 68,    /* 8192 */
    PGR_MACRO_STARTS = 69,  /* 128 */
    PGR_MACRO_POINTERS = 70, /* 2: write pointers of the two memories before */
    PGR_CONSTANT_BUFFERS = 71 /* 640: 5 groups of 32 slots: 1 if bound, low and high word of the GPU address, bytes */
} pgr_item;

/* Words of one of these memories, from word `first` on. */
pgr_status pgr_state(pgr_recorder *r, pgr_item item, uint32_t first, const uint32_t *words, uint32_t count);
pgr_status pgr_channel_state(pgr_recorder *r, pgr_item item, uint32_t channel, uint32_t class_id, uint32_t first,
                             const uint32_t *words, uint32_t count);

/* 3DS, recorders of GX commands: the physical addresses of the program's, if not the usual ones. */
pgr_status pgr_translate(pgr_recorder *r, uint32_t virtual_address, uint32_t physical_address, uint32_t size);

/* Switch: the value of a syncpoint at the start. */
pgr_status pgr_syncpoint(pgr_recorder *r, uint32_t number, uint32_t value);

/* ---- 3DS --------------------------------------------------------------------------------------------------------- */

/* What memory holds now. Call it before an event that makes the GPU read there; only changes take room in the file. */
pgr_status pgr_memory(pgr_recorder *r, uint32_t physical_address, const void *data, size_t size);

/* What the emulator's GPU has stored there, now in the emulator's memory: no change by the program, since the replay
 * stores it by itself. Call it as well when a cache of surfaces is written back to memory. */
pgr_status pgr_gpu_wrote(pgr_recorder *r, uint32_t physical_address, const void *data, size_t size);

/* A write to an external register, by physical address; of 32 bits, or narrow with 8 or 16. */
pgr_status pgr_write(pgr_recorder *r, uint32_t address, uint32_t value);
pgr_status pgr_write_narrow(pgr_recorder *r, uint32_t address, uint32_t value, unsigned bits);

/* Instead of register writes, at the interface of the system software: a GX command as the program left it in shared
 * memory, and a framebuffer entry of seven words for screen 0 (top) or 1 (bottom). */
pgr_status pgr_gx(pgr_recorder *r, const uint32_t words[8]);
pgr_status pgr_swap(pgr_recorder *r, uint32_t screen, const uint32_t entry[7]);

/* VBlank: a frame is complete. */
pgr_status pgr_end_frame(pgr_recorder *r);

/* ---- Switch ------------------------------------------------------------------------------------------------------ */

/* Memory `handle`, from its byte 0, appears at a GPU address; both are multiples of 4096. page_kind: the hardware's
 * number (0 pitch, 0xFE generic 16Bx2). Unmapping takes the address that was mapped. */
pgr_status pgr_map(pgr_recorder *r, uint64_t gpu_address, uint64_t size, uint32_t handle, unsigned page_kind);
pgr_status pgr_unmap(pgr_recorder *r, uint64_t gpu_address);

/* As pgr_memory and pgr_gpu_wrote, for bytes of a handle. */
pgr_status pgr_handle_memory(pgr_recorder *r, uint32_t handle, uint64_t offset, const void *data, size_t size);
pgr_status pgr_handle_gpu_wrote(pgr_recorder *r, uint32_t handle, uint64_t offset, const void *data, size_t size);

/* GPFIFO entries for a channel, as the hardware takes them; at most 2^20 at once. */
pgr_status pgr_submit(pgr_recorder *r, uint32_t channel, const uint64_t *entries, uint32_t count);

typedef enum pgr_format {
    PGR_RGBA8, PGR_RGBX8, PGR_BGRA8, PGR_BGRX8, PGR_RGB565, /* UNORM */
    PGR_RGBA8_SRGB, PGR_RGBX8_SRGB, PGR_BGRA8_SRGB, PGR_BGRX8_SRGB
} pgr_format;

typedef struct pgr_surface {
    uint64_t gpu_address;
    int has_handle;              /* whether handle and offset say where it is; else the GPU address does */
    uint32_t handle;
    uint64_t offset;
    uint32_t width, height;      /* pixels, 1 to 16384 */
    pgr_format format;
    int block_linear;            /* or rows */
    unsigned block_height_log2;  /* 0 to 5, in units of 8 rows */
    uint32_t stride;             /* bytes of a row */
    unsigned transform;          /* bit 0 left and right, bit 1 top and bottom, bit 2 a quarter to the right */
    int has_fence;               /* whether a syncpoint must reach a value first */
    uint32_t fence_syncpoint, fence_value;
} pgr_surface;

/* The surface is shown: a frame is complete. */
pgr_status pgr_present(pgr_recorder *r, const pgr_surface *surface);

#ifdef __cplusplus
}
#endif
#endif /* POCKETGPU_RECORDER_H */

#ifdef POCKETGPU_RECORDER_IMPLEMENTATION
#ifndef POCKETGPU_RECORDER_IMPLEMENTED
#define POCKETGPU_RECORDER_IMPLEMENTED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PGR__PAGE 4096u
#define PGR__PIECE 65536u              /* blocks end at multiples of this address, so that equal contents meet */
#define PGR__RUN (1u << 24)            /* most bytes of a LOAD or STORE */
#define PGR__SECTION (1u << 22)        /* a section is written when it is this long, and at each frame */
#define PGR__LARGEST (1u << 28)        /* most bytes of a section */
#define PGR__LONGEST (UINT64_C(1) << 31) /* most bytes of all */
#ifndef PGR__MOST_STORED
#define PGR__MOST_STORED (UINT64_C(1) << 34) /* most bytes that all loads together store, known blocks included */
#endif
#define PGR__MOST_EVENTS (1u << 22)    /* most events and pieces of loads */
#define PGR__DIGEST 16u                /* bytes of a digest of pictures; this recorder writes none */
#define PGR__VA_END (UINT64_C(1) << 40)

/* Types of records; docs/formats/pgc.md has their fields. */
enum {
    PGR__ABOUT = 0x01, PGR__COVERAGE = 0x02, PGR__STATE = 0x03, PGR__FRAME = 0x0F,
    PGR__LOAD = 0x10, PGR__WRITES = 0x11, PGR__WRITE8 = 0x12, PGR__WRITE16 = 0x13,
    PGR__GX = 0x14, PGR__SWAP = 0x15, PGR__TRANSLATE = 0x16,
    PGR__MAP = 0x20, PGR__UNMAP = 0x21, PGR__STORE = 0x22, PGR__SUBMIT = 0x23, PGR__SYNCPOINT = 0x24,
    PGR__PRESENT = 0x25
};

typedef struct pgr__buffer {
    uint8_t *bytes;
    size_t size, room;
} pgr__buffer;

/* A page of the replay's memory. */
typedef struct pgr__page {
    uint64_t key;               /* handle << 32 | number of the page; on a 3DS the handle is 0 */
    int drawn;                  /* the GPU has stored here, and perhaps other bytes than the emulator */
    uint8_t bytes[PGR__PAGE];
} pgr__page;

/* A block that is in the file. */
typedef struct pgr__block {
    uint8_t digest[32];
    uint64_t number;            /* from 1; 0 is a free place of the table */
} pgr__block;

typedef struct pgr__mapping {
    uint64_t id, gpu_address;
    uint32_t handle;
} pgr__mapping;

struct pgr_recorder {
    pgr_status status;
    pgr_console console;
    pgr_sink sink;
    void *user;
    FILE *file;

    pgr__buffer section;        /* records that are not in the file yet */
    pgr__buffer writes;         /* (address, value) of the WRITES record in the making */
    uint64_t stream_size;       /* of all records in the file */
    uint32_t stream_crc;        /* of the records in the file and the first `checked` bytes of the section */
    size_t checked;
    uint32_t crc_table[4][256];
    uint32_t frames, sections;
    uint64_t stored;            /* by all loads */
    uint32_t events;            /* and pieces of loads */
    int begun;                  /* whether there was an event */
    uint32_t coverage;
    uint32_t items;             /* bit n: STATE of item n was given */

    pgr__page **pages;          /* hash table; places is a power of two */
    size_t page_places, page_count;
    pgr__block *blocks;         /* the same */
    size_t block_places, block_count;
    pgr__mapping *mappings;
    size_t mapping_room, mapping_count;
    uint64_t next_mapping;
};

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static pgr_status pgr__fail(pgr_recorder *r, pgr_status status)
{
    if (r->status == PGR_OK)
        r->status = status;
    return r->status;
}

/* Tables for CRC-32 of zip, PNG and zlib, four bytes at a time: table k is for a byte that k others follow. */
static void pgr__make_crc(uint32_t table[4][256])
{
    uint32_t i, k;
    for (i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        table[0][i] = crc;
    }
    for (k = 1; k < 4; k++)
        for (i = 0; i < 256; i++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

/* Starts with 0, goes on with what it returned. */
static uint32_t pgr__crc(const pgr_recorder *r, uint32_t crc, const void *data, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    crc = ~crc;
    for (; size >= 4; size -= 4, bytes += 4)
        crc = r->crc_table[3][(crc ^ bytes[0]) & 255] ^ r->crc_table[2][(crc >> 8 ^ bytes[1]) & 255] ^
              r->crc_table[1][(crc >> 16 ^ bytes[2]) & 255] ^ r->crc_table[0][crc >> 24 ^ bytes[3]];
    for (; size > 0; size--, bytes++)
        crc = crc >> 8 ^ r->crc_table[0][(crc ^ *bytes) & 255];
    return ~crc;
}

static uint32_t pgr__turn(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void pgr__sha256_block(uint32_t state[8], const uint8_t *bytes)
{
    static const uint32_t k[64] = {
        0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
        0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
        0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
        0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
        0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
        0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
        0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
        0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    uint32_t w[64];
    unsigned i;
    for (i = 0; i < 16; i++)
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
               bytes[4 * i + 3];
    for (; i < 64; i++) {
        const uint32_t old = w[i - 15], recent = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (pgr__turn(old, 7) ^ pgr__turn(old, 18) ^ old >> 3) +
               (pgr__turn(recent, 17) ^ pgr__turn(recent, 19) ^ recent >> 10);
    }
    for (i = 0; i < 64; i++) {
        const uint32_t mixed = pgr__turn(e, 6) ^ pgr__turn(e, 11) ^ pgr__turn(e, 25);
        const uint32_t one = h + mixed + ((e & f) ^ (~e & g)) + k[i] + w[i];
        const uint32_t two = (pgr__turn(a, 2) ^ pgr__turn(a, 13) ^ pgr__turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one;
        d = c, c = b, b = a, a = one + two;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void pgr__sha256(const uint8_t *data, size_t size, uint8_t digest[32])
{
    uint32_t state[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                         0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    uint8_t tail[128] = {0};
    const size_t whole = size / 64 * 64, rest = size - whole, tail_size = rest < 56 ? 64 : 128;
    size_t i;
    for (i = 0; i < whole; i += 64)
        pgr__sha256_block(state, data + i);
    memcpy(tail, data + whole, rest);
    tail[rest] = 0x80;
    for (i = 0; i < 8; i++)
        tail[tail_size - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (i = 0; i < tail_size; i += 64)
        pgr__sha256_block(state, tail + i);
    for (i = 0; i < 32; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

static void pgr__put(pgr_recorder *r, pgr__buffer *to, const void *data, size_t size)
{
    if (r->status != PGR_OK || size == 0)
        return;
    if (size > to->room - to->size) {
        size_t room = to->room ? to->room : 4096;
        uint8_t *bytes;
        while (room - to->size < size && room <= SIZE_MAX / 2)
            room *= 2;
        bytes = room - to->size < size ? NULL : (uint8_t *)realloc(to->bytes, room);
        if (bytes == NULL) {
            pgr__fail(r, PGR_NO_MEMORY);
            return;
        }
        to->bytes = bytes;
        to->room = room;
    }
    memcpy(to->bytes + to->size, data, size);
    to->size += size;
}

static void pgr__number(pgr_recorder *r, pgr__buffer *to, uint64_t value, unsigned bytes)
{
    uint8_t raw[8];
    unsigned i;
    for (i = 0; i < bytes; i++)
        raw[i] = (uint8_t)(value >> 8 * i);
    pgr__put(r, to, raw, bytes);
}

static void pgr__u8(pgr_recorder *r, unsigned value) { pgr__number(r, &r->section, value, 1); }
static void pgr__u32(pgr_recorder *r, uint32_t value) { pgr__number(r, &r->section, value, 4); }

static void pgr__varint(pgr_recorder *r, uint64_t value)
{
    uint8_t raw[10];
    unsigned count = 0;
    do {
        raw[count] = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
        count++;
    } while (value);
    pgr__put(r, &r->section, raw, count);
}

static void pgr__words(pgr_recorder *r, const uint32_t *words, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        pgr__u32(r, words[i]);
}

/* Bytes of the UTF-8 character at `text`, 0 if it is none. */
static size_t pgr__utf8(const char *text)
{
    const uint8_t *b = (const uint8_t *)text;
    const size_t size = b[0] < 0x80 ? 1 : b[0] < 0xC2 ? 0 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : b[0] < 0xF5 ? 4 : 0;
    size_t i;
    for (i = 1; i < size; i++)
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) || (b[0] == 0xF0 && b[1] < 0x90) ||
        (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return size;
}

/* A text; what is no UTF-8 in it becomes question marks. */
static void pgr__text(pgr_recorder *r, const char *text)
{
    size_t i = 0;
    pgr__varint(r, strlen(text));
    while (text[i]) {
        const size_t size = pgr__utf8(text + i);
        pgr__put(r, &r->section, size ? text + i : "?", size ? size : 1);
        i += size ? size : 1;
    }
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

static void pgr__emit(pgr_recorder *r, const void *data, size_t size)
{
    if (r->status == PGR_OK && r->sink(r->user, data, size) != size)
        pgr__fail(r, PGR_IO);
}

static void pgr__store32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
}

static void pgr__emit_section(pgr_recorder *r, unsigned kind, const uint8_t *payload, size_t size)
{
    uint8_t head[10], tail[4];
    head[0] = (uint8_t)kind;
    head[1] = 0; /* stored */
    pgr__store32(head + 2, (uint32_t)size);
    pgr__store32(head + 6, (uint32_t)size);
    pgr__store32(tail, pgr__crc(r, pgr__crc(r, 0, head, sizeof head), payload, size));
    pgr__emit(r, head, sizeof head);
    pgr__emit(r, payload, size);
    pgr__emit(r, tail, sizeof tail);
}

/* What the check of the next FRAME covers: the stream up to here. */
static uint32_t pgr__check(pgr_recorder *r)
{
    if (r->section.size > r->checked)
        r->stream_crc = pgr__crc(r, r->stream_crc, r->section.bytes + r->checked, r->section.size - r->checked);
    r->checked = r->section.size;
    return r->stream_crc;
}

static void pgr__flush(pgr_recorder *r)
{
    if (r->status != PGR_OK || r->section.size == 0)
        return;
    if (r->section.size > PGR__LARGEST || r->section.size > PGR__LONGEST - r->stream_size) {
        pgr__fail(r, PGR_TOO_LONG);
        return;
    }
    pgr__emit_section(r, 1, r->section.bytes, r->section.size);
    pgr__check(r);
    r->stream_size += r->section.size;
    r->section.size = r->checked = 0;
    r->sections++;
    if (r->file != NULL && fflush(r->file) != 0)
        pgr__fail(r, PGR_IO);
}

/* Sections end where records do. */
static void pgr__record_done(pgr_recorder *r)
{
    if (r->section.size >= PGR__SECTION)
        pgr__flush(r);
}

static void pgr__count(pgr_recorder *r, uint64_t stored)
{
    r->stored += stored;
    r->events++;
    if (r->stored > PGR__MOST_STORED || r->events > PGR__MOST_EVENTS)
        pgr__fail(r, PGR_TOO_LONG);
}

static void pgr__end_writes(pgr_recorder *r)
{
    if (r->writes.size == 0)
        return;
    pgr__u8(r, PGR__WRITES);
    pgr__varint(r, r->writes.size / 8);
    pgr__put(r, &r->section, r->writes.bytes, r->writes.size);
    r->writes.size = 0;
    pgr__count(r, 0);
    pgr__record_done(r);
}

/* Whether a call may go on: on this console, with the recorder in order. */
static int pgr__usable(pgr_recorder *r, pgr_console console)
{
    if (r == NULL || r->status != PGR_OK)
        return 0;
    if (r->console != console)
        pgr__fail(r, PGR_BAD_CALL);
    return r->status == PGR_OK;
}

static int pgr__before_events(pgr_recorder *r)
{
    if (r == NULL || r->status != PGR_OK)
        return 0;
    if (r->begun)
        pgr__fail(r, PGR_BAD_CALL);
    return r->status == PGR_OK;
}

/* The first event follows: say what is covered. */
static void pgr__begin(pgr_recorder *r)
{
    uint32_t bits = r->coverage;
    uint32_t items = r->items;
    unsigned item;
    if (r->begun)
        return;
    r->begun = 1;
    if (r->console == PGR_3DS) {
        static const uint32_t needed[10] = {1u << 0, 1u << 1, 1u << 2, 1u << 3, 7u << 4,
                                            7u << 7, 1u << 10, 1u << 11, 1u << 12, 1u << 13};
        items |= (items >> PGR_VS_UNIFORMS_F32 & 1) << PGR_VS_UNIFORMS;
        items |= (items >> PGR_GS_UNIFORMS_F32 & 1) << PGR_GS_UNIFORMS;
        for (item = 0; item < 10; item++)
            if ((items & needed[item]) == needed[item])
                bits |= 1u << item;
    }
    pgr__u8(r, PGR__COVERAGE);
    pgr__varint(r, bits);
}

/* An event follows that is not a plain register write. */
static void pgr__event(pgr_recorder *r, unsigned type)
{
    pgr__begin(r);
    pgr__end_writes(r);
    pgr__count(r, 0);
    pgr__u8(r, type);
}

/* ---- memory: blocks ---------------------------------------------------------------------------------------------- */

static uint64_t pgr__mix(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0xFF51AFD7ED558CCD);
    key ^= key >> 29;
    return key;
}

static size_t pgr__digest_place(const uint8_t digest[32], size_t places)
{
    uint64_t first;
    memcpy(&first, digest, sizeof first);
    return (size_t)first & (places - 1);
}

/* The place of a block in the table: its own or a free one. The table grows at three quarters. NULL without memory. */
static pgr__block *pgr__find_block(pgr_recorder *r, const uint8_t digest[32])
{
    size_t place;
    if (4 * (r->block_count + 1) > 3 * r->block_places) {
        const size_t places = r->block_places ? 2 * r->block_places : 1024;
        pgr__block *blocks = (pgr__block *)calloc(places, sizeof *blocks);
        size_t i;
        if (blocks == NULL) {
            pgr__fail(r, PGR_NO_MEMORY);
            return NULL;
        }
        for (i = 0; i < r->block_places; i++) {
            if (r->blocks[i].number == 0)
                continue;
            place = pgr__digest_place(r->blocks[i].digest, places);
            while (blocks[place].number)
                place = (place + 1) & (places - 1);
            blocks[place] = r->blocks[i];
        }
        free(r->blocks);
        r->blocks = blocks;
        r->block_places = places;
    }
    place = pgr__digest_place(digest, r->block_places);
    while (r->blocks[place].number && memcmp(r->blocks[place].digest, digest, 32) != 0)
        place = (place + 1) & (r->block_places - 1);
    return r->blocks + place;
}

/* The bytes of a LOAD or STORE to `address`, in pieces. */
static void pgr__data(pgr_recorder *r, uint64_t address, const uint8_t *data, size_t size)
{
    const uint64_t last = (address + size - 1) / PGR__PIECE;
    pgr__varint(r, last - address / PGR__PIECE + 1);
    while (size > 0 && r->status == PGR_OK) {
        const size_t room = PGR__PIECE - (size_t)(address % PGR__PIECE), piece = size < room ? size : room;
        uint8_t digest[32];
        pgr__block *block;
        pgr__count(r, piece);
        pgr__sha256(data, piece, digest);
        block = pgr__find_block(r, digest);
        if (block == NULL)
            return;
        if (block->number) {
            pgr__varint(r, r->block_count - block->number + 1);
        } else {
            pgr__u8(r, 0);
            pgr__varint(r, piece);
            pgr__put(r, &r->section, data, piece);
            memcpy(block->digest, digest, 32);
            block->number = ++r->block_count;
        }
        address += piece;
        data += piece;
        size -= piece;
    }
}

/* ---- memory: pages ----------------------------------------------------------------------------------------------- */

/* The place of a page in the table: its own or a free one. */
static size_t pgr__page_place(pgr__page *const *pages, size_t places, uint64_t key)
{
    size_t place = (size_t)pgr__mix(key) & (places - 1);
    while (pages[place] != NULL && pages[place]->key != key)
        place = (place + 1) & (places - 1);
    return place;
}

/* A page, or NULL if it is all zero and was never stored to. */
static pgr__page *pgr__find_page(const pgr_recorder *r, uint64_t key)
{
    return r->page_places ? r->pages[pgr__page_place(r->pages, r->page_places, key)] : NULL;
}

/* A page that can be stored to. NULL without memory. */
static pgr__page *pgr__make_page(pgr_recorder *r, uint64_t key)
{
    pgr__page *page = pgr__find_page(r, key);
    if (page != NULL)
        return page;
    if (4 * (r->page_count + 1) > 3 * r->page_places) {
        const size_t places = r->page_places ? 2 * r->page_places : 1024;
        pgr__page **pages = (pgr__page **)calloc(places, sizeof *pages);
        size_t i;
        if (pages == NULL) {
            pgr__fail(r, PGR_NO_MEMORY);
            return NULL;
        }
        for (i = 0; i < r->page_places; i++)
            if (r->pages[i] != NULL)
                pages[pgr__page_place(pages, places, r->pages[i]->key)] = r->pages[i];
        free(r->pages);
        r->pages = pages;
        r->page_places = places;
    }
    page = (pgr__page *)calloc(1, sizeof *page);
    if (page == NULL) {
        pgr__fail(r, PGR_NO_MEMORY);
        return NULL;
    }
    page->key = key;
    r->pages[pgr__page_place(r->pages, r->page_places, key)] = page;
    r->page_count++;
    return page;
}

static void pgr__load(pgr_recorder *r, uint32_t handle, uint64_t address, const uint8_t *data, size_t size)
{
    if (r->console == PGR_3DS) {
        pgr__event(r, PGR__LOAD);
        pgr__u32(r, (uint32_t)address);
    } else {
        uint64_t gpu_address = 0;
        size_t i;
        for (i = 0; i < r->mapping_count; i++)
            if (r->mappings[i].handle == handle)
                gpu_address = r->mappings[i].gpu_address + address;
        pgr__event(r, PGR__STORE);
        pgr__u8(r, 1);
        pgr__varint(r, handle);
        pgr__varint(r, address);
        pgr__varint(r, gpu_address);
    }
    pgr__data(r, address, data, size);
    pgr__record_done(r);
}

/* The next changed bytes in [*start, end): *start moves to the first of them, and what follows the last is returned;
 * both are `end` if nothing has changed. Where the GPU has drawn, only words that differ are taken, because the others
 * need not be the same in the replay. Elsewhere all words from the first change to the last are taken, because one long
 * load is smaller than many. Words begin where (phase + index) is a multiple of 4. */
static size_t pgr__changed(const uint8_t *old, const uint8_t *now, size_t *start, size_t end, int drawn, size_t phase)
{
    size_t first = *start, last = end;
    while (first < end && old[first] == now[first])
        first++;
    while (first > *start && first < end && (phase + first) % 4)
        first--;
    *start = first;
    if (first == end)
        return end;
    if (!drawn) {
        while (old[last - 1] == now[last - 1])
            last--;
        while (last < end && (phase + last) % 4)
            last++;
        return last;
    }
    for (last = first; last < end;) {
        const size_t left = 4 - (phase + last) % 4, word = left < end - last ? left : end - last;
        if (last > first && memcmp(old + last, now + last, word) == 0)
            break;
        last += word;
    }
    return last;
}

/* Bring the replay's memory to what `data` says. A run is a stretch of changes that goes on from page to page. */
static void pgr__sync(pgr_recorder *r, uint32_t handle, uint64_t address, const uint8_t *data, size_t size)
{
    static const uint8_t zeros[PGR__PAGE] = {0};
    size_t run_start = 0, run_end = 0, done = 0;

    while (done < size && r->status == PGR_OK) {
        const uint64_t at = address + done;
        const size_t low = (size_t)(at % PGR__PAGE);
        const size_t part = size - done < PGR__PAGE - low ? size - done : PGR__PAGE - low;
        const uint64_t key = (uint64_t)handle << 32 | at / PGR__PAGE;
        pgr__page *page = pgr__find_page(r, key);

        if (memcmp(page ? page->bytes + low : zeros, data + done, part) != 0) {
            size_t start, end;
            page = pgr__make_page(r, key);
            if (page == NULL)
                return;
            for (start = 0; start < part; start = end) {
                end = pgr__changed(page->bytes + low, data + done, &start, part, page->drawn, low);
                if (start == part)
                    break;
                if (run_end != done + start || run_end - run_start >= PGR__RUN) {
                    if (run_end > run_start)
                        pgr__load(r, handle, address + run_start, data + run_start, run_end - run_start);
                    run_start = done + start;
                }
                run_end = done + end;
                if (end - start == PGR__PAGE)
                    page->drawn = 0;
            }
            memcpy(page->bytes + low, data + done, part);
        }
        done += part;
    }
    if (run_end > run_start)
        pgr__load(r, handle, address + run_start, data + run_start, run_end - run_start);
}

static void pgr__drawn(pgr_recorder *r, uint32_t handle, uint64_t address, const uint8_t *data, size_t size)
{
    while (size > 0) {
        const size_t low = (size_t)(address % PGR__PAGE);
        const size_t part = size < PGR__PAGE - low ? size : PGR__PAGE - low;
        pgr__page *page = pgr__make_page(r, (uint64_t)handle << 32 | address / PGR__PAGE);
        if (page == NULL)
            return;
        memcpy(page->bytes + low, data, part);
        page->drawn = 1;
        address += part;
        data += part;
        size -= part;
    }
}

/* ---- what callers see -------------------------------------------------------------------------------------------- */

static pgr_status pgr__result(const pgr_recorder *r)
{
    return r == NULL ? PGR_NO_MEMORY : r->status;
}

static size_t pgr__to_file(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, (FILE *)user);
}

pgr_recorder *pgr_open_sink(pgr_sink sink, void *user, pgr_console console, const char *recorder_name)
{
    static const uint8_t magic[8] = {0x89, 'P', 'G', 'C', '\r', '\n', 0x1A, '\n'};
    uint8_t header[16] = {0};
    pgr_recorder *r = (pgr_recorder *)calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->console = console;
    if (sink == NULL || (console != PGR_3DS && console != PGR_SWITCH)) {
        pgr__fail(r, PGR_BAD_CALL);
        return r;
    }
    r->sink = sink;
    r->user = user;
    memcpy(header, magic, sizeof magic);
    header[8] = PGR_FORMAT_VERSION;
    header[9] = (uint8_t)console;
    header[10] = PGR__DIGEST;
    pgr__make_crc(r->crc_table);
    pgr__store32(header + 12, pgr__crc(r, 0, header, 12));
    pgr__emit(r, header, sizeof header);
    if (recorder_name != NULL)
        pgr_about(r, "recorder", recorder_name);
    return r;
}

pgr_recorder *pgr_open(const char *path, pgr_console console, const char *recorder_name)
{
    FILE *file = path == NULL ? NULL : fopen(path, "wb");
    pgr_recorder *r;
    if (file == NULL) {
        r = (pgr_recorder *)calloc(1, sizeof *r);
        if (r != NULL)
            r->status = PGR_IO;
        return r;
    }
    r = pgr_open_sink(pgr__to_file, file, console, recorder_name);
    if (r == NULL)
        fclose(file);
    else
        r->file = file;
    return r;
}

pgr_status pgr_close(pgr_recorder *r)
{
    pgr_status status;
    size_t i;
    if (r == NULL)
        return PGR_NO_MEMORY;
    /* Whatever happened, if the file can be written it ends properly, with the frames that it has. */
    if (r->sink != NULL && r->status != PGR_IO) {
        uint8_t counts[8];
        status = r->status;
        r->status = PGR_OK;
        pgr__store32(counts, r->frames);
        pgr__store32(counts + 4, r->sections);
        pgr__emit_section(r, 2, counts, sizeof counts);
        if (r->status == PGR_OK)
            r->status = status;
    }
    if (r->file != NULL && fclose(r->file) != 0)
        pgr__fail(r, PGR_IO);
    status = r->status;
    for (i = 0; i < r->page_places; i++)
        free(r->pages[i]);
    free(r->pages);
    free(r->blocks);
    free(r->mappings);
    free(r->section.bytes);
    free(r->writes.bytes);
    free(r);
    return status;
}

pgr_status pgr_get_status(const pgr_recorder *r) { return pgr__result(r); }

const char *pgr_status_text(pgr_status status)
{
    switch (status) {
    case PGR_OK: return "nothing is wrong";
    case PGR_NO_MEMORY: return "there is no memory left to record with";
    case PGR_IO: return "the file cannot be opened or written";
    case PGR_BAD_CALL: return "a call of the recorder was wrong or came too late";
    case PGR_TOO_LONG: return "the recording is as long as a file can be";
    }
    return "unknown";
}

pgr_status pgr_about(pgr_recorder *r, const char *key, const char *value)
{
    if (!pgr__before_events(r))
        return pgr__result(r);
    if (key == NULL || value == NULL || strlen(key) >= 1u << 16 || strlen(value) >= 1u << 16)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__u8(r, PGR__ABOUT);
    pgr__text(r, key);
    pgr__text(r, value);
    return r->status;
}

pgr_status pgr_covers(pgr_recorder *r, uint32_t bits)
{
    if (!pgr__before_events(r))
        return pgr__result(r);
    r->coverage |= bits & (r->console == PGR_3DS ? 0x20FFFu : 0x2001Fu);
    return r->status;
}

/* Words of a memory of the GPU, 0 if there is no such. */
static uint32_t pgr__item_words(pgr_item item)
{
    static const uint16_t n3ds[16] = {1024, 1024, 768, 64, 512, 128, 384, 4096, 128, 384, 6144, 128, 896, 16, 384, 384};
    static const uint16_t nx[8] = {8, 4096, 4096, 1, 8192, 128, 2, 640};
    const unsigned number = (unsigned)item;
    if (number < 16)
        return n3ds[number];
    return number >= 64 && number < 72 ? nx[number - 64] : 0;
}

static pgr_status pgr__state(pgr_recorder *r, pgr_item item, uint32_t channel, uint32_t class_id, uint32_t first,
                             const uint32_t *words, uint32_t count)
{
    const uint32_t room = pgr__item_words(item);
    if (!pgr__before_events(r))
        return r->status;
    if (words == NULL || room == 0 || first > room || count > room - first || channel > 255 || class_id > 0xFFFF)
        return pgr__fail(r, PGR_BAD_CALL);
    if (r->console == PGR_3DS)
        r->items |= 1u << item;
    pgr__u8(r, PGR__STATE);
    pgr__u8(r, item);
    pgr__varint(r, channel);
    pgr__varint(r, class_id);
    pgr__varint(r, first);
    pgr__varint(r, count);
    pgr__words(r, words, count);
    return r->status;
}

pgr_status pgr_state(pgr_recorder *r, pgr_item item, uint32_t first, const uint32_t *words, uint32_t count)
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if ((unsigned)item >= PGR_SUBCHANNELS)
        return pgr__fail(r, PGR_BAD_CALL);
    return pgr__state(r, item, 0, 0, first, words, count);
}

pgr_status pgr_channel_state(pgr_recorder *r, pgr_item item, uint32_t channel, uint32_t class_id, uint32_t first,
                             const uint32_t *words, uint32_t count)
{
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if ((unsigned)item < PGR_SUBCHANNELS)
        return pgr__fail(r, PGR_BAD_CALL);
    return pgr__state(r, item, channel, class_id, first, words, count);
}

pgr_status pgr_translate(pgr_recorder *r, uint32_t virtual_address, uint32_t physical_address, uint32_t size)
{
    if (!pgr__usable(r, PGR_3DS) || !pgr__before_events(r))
        return pgr__result(r);
    if (size == 0 || size - 1 > UINT32_MAX - virtual_address || size - 1 > UINT32_MAX - physical_address)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__u8(r, PGR__TRANSLATE);
    pgr__u32(r, virtual_address);
    pgr__u32(r, physical_address);
    pgr__varint(r, size);
    return r->status;
}

pgr_status pgr_syncpoint(pgr_recorder *r, uint32_t number, uint32_t value)
{
    if (!pgr__usable(r, PGR_SWITCH) || !pgr__before_events(r))
        return pgr__result(r);
    pgr__u8(r, PGR__SYNCPOINT);
    pgr__varint(r, number);
    pgr__varint(r, value);
    return r->status;
}

static int pgr__is_range(uint64_t start, size_t size, uint64_t end)
{
    return start <= end && size <= end - start;
}

pgr_status pgr_memory(pgr_recorder *r, uint32_t physical_address, const void *data, size_t size)
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if (data == NULL || !pgr__is_range(physical_address, size, UINT64_C(1) << 32))
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__sync(r, 0, physical_address, (const uint8_t *)data, size);
    return r->status;
}

pgr_status pgr_gpu_wrote(pgr_recorder *r, uint32_t physical_address, const void *data, size_t size)
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if (data == NULL || !pgr__is_range(physical_address, size, UINT64_C(1) << 32))
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__drawn(r, 0, physical_address, (const uint8_t *)data, size);
    return r->status;
}

pgr_status pgr_write(pgr_recorder *r, uint32_t address, uint32_t value)
{
    uint8_t pair[8];
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if (address % 4)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__begin(r);
    pgr__store32(pair, address);
    pgr__store32(pair + 4, value);
    pgr__put(r, &r->writes, pair, sizeof pair);
    if (r->writes.size >= PGR__SECTION)
        pgr__end_writes(r);
    return r->status;
}

pgr_status pgr_write_narrow(pgr_recorder *r, uint32_t address, uint32_t value, unsigned bits)
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if ((bits != 8 && bits != 16) || value >> bits || address % (bits / 8))
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__event(r, bits == 8 ? PGR__WRITE8 : PGR__WRITE16);
    pgr__u32(r, address);
    pgr__number(r, &r->section, value, bits / 8);
    pgr__record_done(r);
    return r->status;
}

pgr_status pgr_gx(pgr_recorder *r, const uint32_t words[8])
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    pgr__event(r, PGR__GX);
    pgr__words(r, words, 8);
    pgr__record_done(r);
    return r->status;
}

pgr_status pgr_swap(pgr_recorder *r, uint32_t screen, const uint32_t entry[7])
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    if (screen > 1)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__event(r, PGR__SWAP);
    pgr__u8(r, screen);
    pgr__words(r, entry, 7);
    pgr__varint(r, 0); /* the register writes follow from the entry */
    pgr__record_done(r);
    return r->status;
}

static void pgr__frame(pgr_recorder *r)
{
    pgr__event(r, PGR__FRAME);
    pgr__varint(r, 0); /* no pictures */
    pgr__u32(r, pgr__check(r));
    pgr__flush(r);
    if (r->status == PGR_OK)
        r->frames++;
}

pgr_status pgr_end_frame(pgr_recorder *r)
{
    if (!pgr__usable(r, PGR_3DS))
        return pgr__result(r);
    pgr__frame(r);
    return r->status;
}

pgr_status pgr_map(pgr_recorder *r, uint64_t gpu_address, uint64_t size, uint32_t handle, unsigned page_kind)
{
    pgr__mapping *mapping;
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if (gpu_address % 4096 || size % 4096 || size == 0 || gpu_address >= PGR__VA_END ||
        size > PGR__VA_END - gpu_address || page_kind > 0xFF)
        return pgr__fail(r, PGR_BAD_CALL);
    if (r->mapping_count == r->mapping_room) {
        const size_t room = r->mapping_room ? 2 * r->mapping_room : 64;
        mapping = (pgr__mapping *)realloc(r->mappings, room * sizeof *mapping);
        if (mapping == NULL)
            return pgr__fail(r, PGR_NO_MEMORY);
        r->mappings = mapping;
        r->mapping_room = room;
    }
    mapping = r->mappings + r->mapping_count++;
    mapping->id = r->next_mapping++;
    mapping->gpu_address = gpu_address;
    mapping->handle = handle;
    pgr__event(r, PGR__MAP);
    pgr__varint(r, mapping->id);
    pgr__varint(r, gpu_address);
    pgr__varint(r, size);
    pgr__varint(r, handle);
    pgr__u8(r, page_kind);
    pgr__record_done(r);
    return r->status;
}

pgr_status pgr_unmap(pgr_recorder *r, uint64_t gpu_address)
{
    size_t i;
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    for (i = 0; i < r->mapping_count && r->mappings[i].gpu_address != gpu_address; i++)
        ;
    if (i == r->mapping_count)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__event(r, PGR__UNMAP);
    pgr__varint(r, r->mappings[i].id);
    pgr__record_done(r);
    r->mappings[i] = r->mappings[--r->mapping_count];
    return r->status;
}

pgr_status pgr_handle_memory(pgr_recorder *r, uint32_t handle, uint64_t offset, const void *data, size_t size)
{
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if (data == NULL || !pgr__is_range(offset, size, PGR__VA_END))
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__sync(r, handle, offset, (const uint8_t *)data, size);
    return r->status;
}

pgr_status pgr_handle_gpu_wrote(pgr_recorder *r, uint32_t handle, uint64_t offset, const void *data, size_t size)
{
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if (data == NULL || !pgr__is_range(offset, size, PGR__VA_END))
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__drawn(r, handle, offset, (const uint8_t *)data, size);
    return r->status;
}

pgr_status pgr_submit(pgr_recorder *r, uint32_t channel, const uint64_t *entries, uint32_t count)
{
    uint32_t i;
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if ((entries == NULL && count) || count > 1u << 20 || channel > 255)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__event(r, PGR__SUBMIT);
    pgr__varint(r, channel);
    pgr__varint(r, count);
    for (i = 0; i < count; i++)
        pgr__number(r, &r->section, entries[i], 8);
    pgr__record_done(r);
    return r->status;
}

pgr_status pgr_present(pgr_recorder *r, const pgr_surface *s)
{
    if (!pgr__usable(r, PGR_SWITCH))
        return pgr__result(r);
    if (s == NULL || s->width - 1 >= 16384 || s->height - 1 >= 16384 || (unsigned)s->format > PGR_BGRX8_SRGB ||
        s->block_height_log2 > 5 || s->stride >= 1u << 20 || s->transform > 7 || s->gpu_address >= PGR__VA_END ||
        s->offset >= PGR__VA_END)
        return pgr__fail(r, PGR_BAD_CALL);
    pgr__event(r, PGR__PRESENT);
    pgr__varint(r, s->gpu_address);
    pgr__u8(r, s->has_handle != 0);
    pgr__varint(r, s->has_handle ? s->handle : 0);
    pgr__varint(r, s->has_handle ? s->offset : 0);
    pgr__varint(r, s->width);
    pgr__varint(r, s->height);
    pgr__u8(r, s->format);
    pgr__u8(r, s->block_linear != 0);
    pgr__u8(r, s->block_height_log2);
    pgr__varint(r, s->stride);
    pgr__u8(r, s->transform);
    pgr__u8(r, s->has_fence != 0);
    if (s->has_fence) {
        pgr__varint(r, s->fence_syncpoint);
        pgr__varint(r, s->fence_value);
    }
    pgr__frame(r);
    return r->status;
}

#ifdef __cplusplus
}
#endif
#endif /* POCKETGPU_RECORDER_IMPLEMENTED */
#endif /* POCKETGPU_RECORDER_IMPLEMENTATION */
