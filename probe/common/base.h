/* Types, memory and texts, without a C library. Licence: 0BSD, see ../LICENSE. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *text);

/* Whether two texts are equal, or the first begins or ends with the second. */
bool equal(const char *one, const char *other);
bool begins(const char *text, const char *part);
bool ends(const char *text, const char *part);
/* Whether `part` occurs in the bytes. */
bool contains(const u8 *bytes, u32 size, const char *part);

/* A text that grows; what does not fit is left out. There is always a zero at its end. */
struct text { char *at; u32 room, size; };
#define TEXT(name, room) static char name##_room[room]; static struct text name = {name##_room, room, 0}
void clear(struct text *to);
void put(struct text *to, const char *text);
void put_letter(struct text *to, char letter);
void put_hex(struct text *to, u64 value, u32 digits);    /* at least so many digits */
void put_number(struct text *to, u32 value);
void put_comma(struct text *to);                         /* ", " if there is something before it */
