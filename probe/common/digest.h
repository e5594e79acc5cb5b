/* CRC-32 as in zip, and SHA-256. Licence: 0BSD. */
#pragma once
#include "base.h"

u32 crc32(u32 crc, const void *data, u32 size);          /* crc: 0 at first, then the result so far */

struct sha256 { u32 state[8]; u64 size; u8 rest[64]; };
void sha256_begin(struct sha256 *to);
void sha256_add(struct sha256 *to, const void *data, u32 size);
void sha256_end(struct sha256 *to, u8 digest[32]);
void put_digest(struct text *to, const u8 digest[32]);
