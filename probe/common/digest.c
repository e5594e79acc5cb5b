#include "digest.h"

u32 crc32(u32 crc, const void *data, u32 size) {
    static u32 tables[4][256];                           /* of a byte, and of one with one to three after it */
    if (!tables[0][1])
        for (u32 n = 0; n < 4 * 256; n++) {
            u32 word = n < 256 ? n : tables[n / 256 - 1][n & 255];
            for (u32 bit = 0; bit < 8; bit++) word = word >> 1 ^ (word & 1 ? 0xEDB88320u : 0);
            tables[n / 256][n & 255] = word;
        }
    const u8 *at = data;
    crc = ~crc;
    for (; size && (uintptr_t)at & 3; size--) crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 255];
    for (; size >= 4; size -= 4, at += 4) {
        crc ^= *(const u32 *)(const void *)at;
        crc = tables[3][crc & 255] ^ tables[2][crc >> 8 & 255] ^ tables[1][crc >> 16 & 255] ^ tables[0][crc >> 24];
    }
    while (size--) crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 255];
    return ~crc;
}

static const u32 CONSTANTS[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5, 0xD807AA98, 0x12835B01, 0x243185BE,
    0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174, 0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA,
    0x5CB0A9DC, 0x76F988DA, 0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967, 0x27B70A85,
    0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85, 0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3,
    0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070, 0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F,
    0x682E6FF3, 0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

static u32 turn(u32 word, u32 bits) { return word >> bits | word << (32 - bits); }
static void block(u32 state[8], const u8 *bytes) {
    u32 w[64], s[8];
    for (u32 i = 0; i < 16; i++)
        w[i] = (u32)bytes[4 * i] << 24 | (u32)bytes[4 * i + 1] << 16 | (u32)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    for (u32 i = 16; i < 64; i++) {
        u32 a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    for (u32 i = 0; i < 8; i++) s[i] = state[i];
    for (u32 i = 0; i < 64; i++) {
        u32 e = s[4], a = s[0];
        u32 one = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + CONSTANTS[i] + w[i];
        u32 two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6]; s[6] = s[5]; s[5] = e; s[4] = s[3] + one; s[3] = s[2]; s[2] = s[1]; s[1] = a; s[0] = one + two;
    }
    for (u32 i = 0; i < 8; i++) state[i] += s[i];
}
void sha256_begin(struct sha256 *to) {
    static const u32 first[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    memcpy(to->state, first, sizeof first);
    to->size = 0;
}
void sha256_add(struct sha256 *to, const void *data, u32 size) {
    const u8 *at = data;
    u32 held = to->size & 63;
    to->size += size;
    if (held) {
        u32 part = 64 - held < size ? 64 - held : size;
        memcpy(to->rest + held, at, part);
        at += part, size -= part, held += part;
        if (held < 64) return;
        block(to->state, to->rest);
    }
    for (; size >= 64; size -= 64, at += 64) block(to->state, at);
    memcpy(to->rest, at, size);
}
void sha256_end(struct sha256 *to, u8 digest[32]) {
    u64 bits = to->size * 8;
    u8 tail[72] = {0x80};
    u32 zeros = 63 - (u32)((to->size + 8) & 63);
    for (u32 i = 0; i < 8; i++) tail[1 + zeros + i] = (u8)(bits >> (56 - 8 * i));
    sha256_add(to, tail, 9 + zeros);
    for (u32 i = 0; i < 32; i++) digest[i] = (u8)(to->state[i / 4] >> (24 - 8 * (i & 3)));
}
void put_digest(struct text *to, const u8 digest[32]) { for (u32 i = 0; i < 32; i++) put_hex(to, digest[i], 2); }
