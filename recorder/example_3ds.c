/* Records a small 3DS scene with pocketgpu_recorder.h.
 *
 *     cc -std=c99 -O2 -o example_3ds example_3ds.c
 *     ./example_3ds scene.pgc             external registers, as the hardware sees them
 *     ./example_3ds scene.pgc gx          GX commands, as the system software's graphics module sees them
 *     pocketgpu render scene.pgc
 *
 * The first half plays the emulator: it has memory and the places where a program reaches the GPU, and calls the
 * recorder there. It draws nothing, only fills, since recordings do not need pictures. The second half plays the
 * program: a turning, textured square and a triangle on the upper screen, a colour on the lower one.
 */
#define POCKETGPU_RECORDER_IMPLEMENTATION
#include "pocketgpu_recorder.h"

#include <stdio.h>
#include <string.h>

/* ---- the emulator ------------------------------------------------------------------------------------------------ */

#define VRAM 0x18000000u
#define FCRAM 0x20000000u
#define VRAM_SIZE 0x600000u
#define FCRAM_SIZE 0x100000u /* the first MiB is enough here */

/* External registers that start something. */
#define PSC0_CONTROL 0x1040001Cu
#define PSC1_CONTROL 0x1040002Cu
#define PPF_CONTROL 0x10400C18u
#define CMDBUF_JUMP0 0x104018F0u

static uint8_t vram[VRAM_SIZE];
static uint8_t fcram[FCRAM_SIZE];
static pgr_recorder *recorder;

static uint8_t *memory_at(uint32_t address)
{
    return address >= FCRAM ? fcram + (address - FCRAM) : vram + (address - VRAM);
}

/* Called before whatever makes the GPU read memory. The recorder compares and keeps what the program has changed, so it
 * is enough to know that nothing else is read: here, all of both memories. */
static void before_gpu_reads(void)
{
    pgr_memory(recorder, FCRAM, fcram, FCRAM_SIZE);
    pgr_memory(recorder, VRAM, vram, VRAM_SIZE);
}

/* What the emulator's own GPU stores is no change by the program: the replay makes it by itself. */
static void after_gpu_writes(uint32_t start, uint32_t end)
{
    pgr_gpu_wrote(recorder, start, memory_at(start), end - start);
}

static void run_fill(uint32_t start, uint32_t end, uint32_t value, uint32_t bytes_per_unit)
{
    uint32_t address, i;
    for (address = start; address + bytes_per_unit <= end; address += bytes_per_unit)
        for (i = 0; i < bytes_per_unit; i++)
            memory_at(address)[i] = (uint8_t)(value >> 8 * i);
    after_gpu_writes(start, end);
}

/* A program writes a register. */
static void write_register(uint32_t address, uint32_t value)
{
    static uint32_t fill[2][3]; /* start, end, value of both fill units */

    if (address == PPF_CONTROL || address == CMDBUF_JUMP0)
        before_gpu_reads();
    pgr_write(recorder, address, value);

    /* From here on the emulator does what it always does. */
    if (address >= 0x10400010u && address < PSC1_CONTROL && (address & 0xFu) < 0xCu)
        fill[(address >> 4 & 3u) - 1][(address & 0xFu) / 4] = value;
    if ((address == PSC0_CONTROL || address == PSC1_CONTROL) && (value & 1u)) {
        const uint32_t *unit = fill[address == PSC1_CONTROL];
        run_fill(unit[0] * 8, unit[1] * 8, unit[2], 2 + (value >> 8 & 3u));
    }
}

/* A program hands a GX command to the system software. */
static void gx_command(const uint32_t words[8])
{
    before_gpu_reads();
    pgr_gx(recorder, words);
    if ((words[0] & 0xFFu) == 2) /* MemoryFill */
        run_fill(words[1] - 0x1F000000u + VRAM, words[3] - 0x1F000000u + VRAM, words[2], 2 + (words[7] >> 8 & 3u));
}

/* A program gives a screen a new framebuffer. */
static void swap_buffers(uint32_t screen, const uint32_t entry[7])
{
    pgr_swap(recorder, screen, entry);
}

/* Both screens have been scanned out. */
static void vblank(void)
{
    pgr_end_frame(recorder);
}

/* ---- what a program's library does ------------------------------------------------------------------------------- */

static int with_gx;

static uint32_t virtual_address(uint32_t physical)
{
    return physical >= FCRAM ? physical - FCRAM + 0x30000000u : physical - VRAM + 0x1F000000u;
}

static void gx(uint32_t id, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, uint32_t g)
{
    uint32_t words[8];
    words[0] = id | 1u << 24;
    words[1] = a, words[2] = b, words[3] = c, words[4] = d, words[5] = e, words[6] = f, words[7] = g;
    gx_command(words);
}

/* width: 0, 1 or 2 for values of 16, 24 or 32 bits */
static void fill_memory(uint32_t start, uint32_t size, uint32_t value, uint32_t width)
{
    if (with_gx) {
        gx(2, virtual_address(start), value, virtual_address(start) + size, 0, 0, 0, width << 8 | 1u);
        return;
    }
    write_register(0x10400010u, start >> 3);
    write_register(0x10400014u, (start + size) >> 3);
    write_register(0x10400018u, value);
    write_register(PSC0_CONTROL, width << 8 | 1u);
}

static void run_list(uint32_t list, uint32_t size)
{
    if (with_gx) {
        gx(1, virtual_address(list), size, 0, 0, 0, 0, 1);
        return;
    }
    write_register(0x104018E0u, size >> 3);
    write_register(0x104018E8u, list >> 3);
    write_register(CMDBUF_JUMP0, 1);
}

/* From the tiled render target to rows that a screen can show, RGBA8 to RGB8. */
static void transfer(uint32_t from, uint32_t to, uint32_t width, uint32_t height)
{
    const uint32_t size = height << 16 | width, flags = 1u << 12;
    if (with_gx) {
        gx(3, virtual_address(from), virtual_address(to), size, size, flags, 0, 0);
        return;
    }
    write_register(0x10400C00u, from >> 3);
    write_register(0x10400C04u, to >> 3);
    write_register(0x10400C08u, size);
    write_register(0x10400C0Cu, size);
    write_register(0x10400C10u, flags);
    write_register(PPF_CONTROL, 1);
}

/* Columns of 240 pixels, RGB8. */
static void show(uint32_t screen, uint32_t framebuffer)
{
    const uint32_t pdc = 0x10400400u + 0x100u * screen, format = screen == 0 ? 0x41u : 0x01u;
    if (with_gx) {
        uint32_t entry[7];
        entry[0] = 0;
        entry[1] = entry[2] = virtual_address(framebuffer);
        entry[3] = 720, entry[4] = format, entry[5] = 0, entry[6] = 0;
        swap_buffers(screen, entry);
        return;
    }
    write_register(pdc + 0x68, framebuffer);
    write_register(pdc + 0x94, framebuffer);
    write_register(pdc + 0x90, 720);
    write_register(pdc + 0x70, 0x80300u | format);
    write_register(pdc + 0x78, 0);
}

/* ---- the program: command lists ---------------------------------------------------------------------------------- */

#define TARGET VRAM /* tiled RGBA8, 240 x 400 */
#define TOP_BUFFER (VRAM + 0x100000u)
#define BOTTOM_BUFFER (VRAM + 0x200000u)
#define TEXTURE FCRAM
#define VERTICES (FCRAM + 0x1000u)
#define LIST (FCRAM + 0x8000u)

/* Little endian, whatever the host is. */
static uint32_t store_word(uint32_t address, uint32_t value)
{
    uint8_t *bytes = memory_at(address);
    bytes[0] = (uint8_t)value, bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16), bytes[3] = (uint8_t)(value >> 24);
    return address + 4;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static uint32_t list_end;

/* A command: the first value, a header, the other values, padding to 8 bytes. */
static void command(uint32_t header, const uint32_t *values, uint32_t count)
{
    uint32_t i;
    list_end = store_word(list_end, values[0]);
    list_end = store_word(list_end, header | (count - 1) << 20);
    for (i = 1; i < count; i++)
        list_end = store_word(list_end, values[i]);
    if (!(count & 1u))
        list_end = store_word(list_end, 0);
}

static void set(uint32_t id, uint32_t value) { command(0xF0000u | id, &value, 1); }
static void set_byte(uint32_t id, uint32_t byte, uint32_t value) { command(0x10000u << byte | id, &value, 1); }
/* One value after the other, to registers in a row or all to the same one. */
static void set_row(uint32_t id, const uint32_t *v, uint32_t count) { command(0x800F0000u | id, v, count); }
static void set_fifo(uint32_t id, const uint32_t *v, uint32_t count) { command(0xF0000u | id, v, count); }

/* Position and colour and texture coordinate; c0 to c3 are the rows of a matrix:
 *     dp4 o0.x, c0, v0; dp4 o0.y, c1, v0; dp4 o0.z, c2, v0; dp4 o0.w, c3, v0; mov o1, v1; mov o2.xy, v2; end */
static const uint32_t program_code[] = {0x08020000, 0x08021001, 0x08022002, 0x08023003,
                                        0x4C201004, 0x4C402005, 0x88000000};
static const uint32_t program_operands[] = {0x0006C368, 0x0006C364, 0x0006C362, 0x0006C361, 0x0000036F, 0x0000036C};

static void set_state(void)
{
    static const uint32_t stages[5] = {0x0C8, 0x0D0, 0x0D8, 0x0F0, 0x0F8};
    /* texture 0 times vertex colour in combiner stage 0; each other stage keeps the colour before */
    static const uint32_t modulate[5] = {0x00030003, 0, 0x00010001, 0, 0};
    static const uint32_t keep[5] = {0x000F000F, 0, 0, 0, 0};
    static const uint32_t outputs[7] = {0x03020100, 0x0B0A0908, 0x1F1F0D0C, 0x1F1F1F1F,
                                        0x1F1F1F1F, 0x1F1F1F1F, 0x1F1F1F1F};
    uint32_t i;

    set_row(0x0C0, modulate, 5);
    for (i = 0; i < 5; i++)
        set_row(stages[i], keep, 5);
    set(0x0E0, 0);          /* TEXENV_UPDATE_BUFFER */
    set(0x08F, 0);          /* LIGHTING_ENABLE0 */
    set(0x1C6, 1);          /* LIGHTING_ENABLE1: off */
    set(0x040, 0);          /* FACECULLING_CONFIG */
    set(0x047, 0);          /* FRAGOP_CLIP */
    set(0x065, 0);          /* SCISSORTEST_MODE */
    set(0x04D, 0x00BF0000); /* DEPTHMAP_SCALE: -1 */
    set(0x04E, 0);          /* DEPTHMAP_OFFSET */
    set(0x06D, 1);          /* DEPTHMAP_ENABLE */
    set(0x104, 0);          /* FRAGOP_ALPHA_TEST */
    set(0x105, 0);          /* STENCIL_TEST */
    set(0x106, 0);          /* STENCIL_OP */
    set(0x102, 3);          /* LOGIC_OP: copy */
    set(0x062, 0);          /* EARLYDEPTH_TEST1 */
    set(0x118, 0);          /* EARLYDEPTH_TEST2 */
    set(0x229, 0);          /* GEOSTAGE_CONFIG */
    set(0x244, 0);          /* VSH_COM_MODE */
    set(0x252, 0);          /* GSH_MISC0 */
    set(0x245, 1);          /* START_DRAW_FUNC0 */
    set(0x100, 0x00E40100); /* COLOR_OPERATION: blending */
    set(0x101, 0x01010000); /* BLEND_FUNC: one, zero */
    set(0x107, 0x00000F10); /* DEPTH_COLOR_MASK: all colours, no depth */

    set(0x111, 1);                 /* FRAMEBUFFER_FLUSH */
    set(0x110, 1);                 /* FRAMEBUFFER_INVALIDATE */
    set(0x116, 3);                 /* DEPTHBUFFER_FORMAT */
    set(0x117, 2);                 /* COLORBUFFER_FORMAT: RGBA8 */
    set(0x11B, 0);                 /* FRAMEBUFFER_BLOCK32 */
    set(0x11C, TARGET >> 3);       /* DEPTHBUFFER_LOC */
    set(0x11D, TARGET >> 3);       /* COLORBUFFER_LOC */
    set(0x11E, 0x0118F0F0);        /* FRAMEBUFFER_DIM: 240 x 400 */
    set(0x06E, 0x0118F0F0);        /* RENDERBUF_DIM */
    set(0x112, 0xF), set(0x113, 0xF); /* COLORBUFFER_READ, COLORBUFFER_WRITE */
    set(0x114, 0), set(0x115, 0);  /* DEPTHBUFFER_READ, DEPTHBUFFER_WRITE */
    set(0x041, 0x0045E000), set(0x042, 0x38111110); /* VIEWPORT_WIDTH, VIEWPORT_INVW */
    set(0x043, 0x00469000), set(0x044, 0x3747AE14); /* VIEWPORT_HEIGHT, VIEWPORT_INVH */
    set(0x068, 0);                 /* VIEWPORT_XY */

    set(0x2CB, 0), set_fifo(0x2CC, program_code, 7), set(0x2BF, 1);
    set(0x2D5, 0), set_fifo(0x2D6, program_operands, 6);
    set(0x2BA, 0x7FFF0000);        /* VSH_ENTRYPOINT */
    set(0x2BD, 7);                 /* VSH_OUTMAP_MASK */
    set(0x24A, 2), set(0x251, 2);  /* VSH_OUTMAP_TOTAL1, VSH_OUTMAP_TOTAL2 */
    set_byte(0x25E, 0, 2);         /* PRIMITIVE_CONFIG */
    set(0x04F, 3);                 /* SH_OUTMAP_TOTAL */
    set_row(0x050, outputs, 7);    /* SH_OUTMAP_O0 and so on */
    set(0x064, 1), set(0x06F, 0x103); /* SH_OUTATTR_MODE, SH_OUTATTR_CLOCK */

    set(0x081, 0);                 /* TEXUNIT0_BORDER_COLOR */
    set(0x082, 0x00100010);        /* TEXUNIT0_DIM: 16 x 16 */
    set(0x083, 0x00002206);        /* TEXUNIT0_PARAM: linear, repeat */
    set(0x084, 0);                 /* TEXUNIT0_LOD */
    set(0x085, TEXTURE >> 3);      /* TEXUNIT0_ADDR */
    set(0x08E, 0);                 /* TEXUNIT0_TYPE: RGBA8 */
    set(0x080, 0x00011001);        /* TEXUNIT_CONFIG: unit 0, clear the cache */
}

/* Attributes: position f32 x 3, colour f32 x 4, texture coordinate f32 x 2. */
static void set_attributes(void)
{
    static const uint32_t loaders[36] = {0, 0x210, 0x30240000};
    static const uint32_t order[2] = {0x76543210, 0xFEDCBA98};

    set(0x200, VERTICES >> 3);     /* ATTRIBBUFFERS_LOC */
    set(0x201, 0x000007FB);        /* ATTRIBBUFFERS_FORMAT_LOW */
    set(0x202, 0x20000000);        /* ATTRIBBUFFERS_FORMAT_HIGH */
    set_row(0x203, loaders, 36);   /* ATTRIBBUFFER0_OFFSET and so on */
    set(0x242, 2);                 /* VSH_NUM_ATTR */
    set(0x2B9, 0xA0000002);        /* VSH_INPUTBUFFER_CONFIG */
    set_row(0x2BB, order, 2);      /* VSH_ATTRIBUTES_PERMUTATION_LOW, VSH_ATTRIBUTES_PERMUTATION_HIGH */
}

/* A turn in x and y by the cosine and sine, as four rows of a matrix for c0 to c3; the unit takes w first. Screens
 * stand on their side, so (x, y) goes to (y, -x), and are 400 pixels long and 240 wide: `along` is 0.6 times `turn`. */
static void set_matrix(const float turn[2], const float along[2])
{
    const float rows[4][4] = {{turn[1], turn[0], 0, 0}, {-along[0], along[1], 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    uint32_t words[16];
    uint32_t i;
    for (i = 0; i < 16; i++)
        words[i] = float_bits(rows[i / 4][3 - i % 4]);
    set(0x2C0, 0x80000000u);       /* VSH_FLOATUNIFORM_INDEX: from c0 on, 32-bit floats */
    set_fifo(0x2C1, words, 16);
}

static void draw(uint32_t first, uint32_t count)
{
    set_byte(0x25E, 1, 0);         /* PRIMITIVE_CONFIG: triangles */
    set(0x25F, 1);                 /* RESTART_PRIMITIVE */
    set(0x227, 0x80000000u);       /* INDEXBUFFER_CONFIG */
    set(0x228, count);             /* NUMVERTICES */
    set(0x22A, first);             /* VERTEX_OFFSET */
    set_byte(0x253, 0, 1);         /* GEOSTAGE_CONFIG2 */
    set_byte(0x245, 0, 0);         /* START_DRAW_FUNC0 */
    set(0x22E, 1);                 /* DRAWARRAYS */
    set_byte(0x245, 0, 1);
    set_byte(0x253, 0, 0);
    set(0x231, 1);                 /* VTX_FUNC */
}

/* ---- the program: its scene -------------------------------------------------------------------------------------- */

/* A texture of 16 x 16 pixels: blocks of 8 x 8, each in Morton order, a pixel as A, B, G, R. */
static void make_texture(void)
{
    uint32_t x, y;
    for (y = 0; y < 16; y++)
        for (x = 0; x < 16; x++) {
            const uint32_t inside = (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 4) << 2 | (y & 4) << 3;
            const uint32_t place = (y / 8 * 2 + x / 8) * 64 + inside;
            const uint32_t light = (x / 4 + y / 4) % 2 ? 255 : 96;
            store_word(TEXTURE + 4 * place, light << 24 | (light - y * 4) << 16 | (light - x * 4) << 8 | 255u);
        }
}

static void make_vertices(void)
{
    /* x, y, z; r, g, b, a; u, v: a square of two triangles that turns, and a triangle that stays */
    static const float corners[9][9] = {
        {-0.6f, -0.6f, -0.5f, 1, 1, 1, 1, 0, 0}, {0.6f, -0.6f, -0.5f, 1, 1, 1, 1, 2, 0},
        {0.6f, 0.6f, -0.5f, 1, 1, 1, 1, 2, 2},   {-0.6f, -0.6f, -0.5f, 1, 1, 1, 1, 0, 0},
        {0.6f, 0.6f, -0.5f, 1, 1, 1, 1, 2, 2},   {-0.6f, 0.6f, -0.5f, 1, 1, 1, 1, 0, 2},
        {-1.5f, -0.9f, -0.5f, 1, 0, 0, 1, 0, 0}, {-0.9f, -0.9f, -0.5f, 0, 1, 0, 1, 1, 0},
        {-1.5f, -0.3f, -0.5f, 0, 0, 1, 1, 0, 1}};
    uint32_t i, address = VERTICES;
    for (i = 0; i < 81; i++)
        address = store_word(address, float_bits(corners[i / 9][i % 9]));
}

static void draw_frame(uint32_t number)
{
    /* cosine and sine, and both times 0.6, as numbers: every computer shall record the same bytes */
    static const float turns[4][2] = {{1, 0}, {0.8f, 0.6f}, {0.6f, 0.8f}, {0, 1}};
    static const float along[4][2] = {{0.6f, 0}, {0.48f, 0.36f}, {0.36f, 0.48f}, {0, 0.6f}};

    fill_memory(TARGET, 240 * 400 * 4, 0x203040FFu, 2);
    list_end = LIST;
    set_state();
    set_attributes();
    set_matrix(turns[number % 4], along[number % 4]);
    draw(0, 6);
    set_matrix(turns[0], along[0]);
    draw(6, 3);
    set(0x111, 1);           /* FRAMEBUFFER_FLUSH */
    set(0x010, 0x12345678);  /* FINALIZE */
    while (list_end % 16)    /* lists are multiples of 16 bytes */
        set(0x010, 0x12345678);
    run_list(LIST, list_end - LIST);

    transfer(TARGET, TOP_BUFFER, 240, 400);
    fill_memory(BOTTOM_BUFFER, 240 * 320 * 3, 0x204060u + 0x400000u * number, 1);
    show(0, TOP_BUFFER);
    show(1, BOTTOM_BUFFER);
    vblank();
}

int main(int count, char **arguments)
{
    uint32_t number;

    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: %s FILE.pgc [registers|gx]\n", arguments[0]);
        return 2;
    }
    with_gx = count == 3 && strcmp(arguments[2], "gx") == 0;
    recorder = pgr_open(arguments[1], PGR_3DS, "example_3ds");
    pgr_covers(recorder, PGR_COVERS_POWER_ON | PGR_COVERS_VRAM | PGR_COVERS_FCRAM | PGR_COVERS_ALL_CHANGES);

    make_texture();
    make_vertices();
    for (number = 0; number < 4; number++)
        draw_frame(number);

    /* Calls after a failure do nothing, so it is enough to ask at the end. */
    if (pgr_close(recorder) != PGR_OK) {
        fprintf(stderr, "%s could not be recorded\n", arguments[1]);
        return 1;
    }
    return 0;
}
