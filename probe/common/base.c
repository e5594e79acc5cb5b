#include "base.h"

void *memcpy(void *to, const void *from, size_t size) {
    u8 *a = to;
    const u8 *b = from;
    if (!(((uintptr_t)a | (uintptr_t)b) & 3))
        for (; size >= 4; size -= 4, a += 4, b += 4) *(volatile u32 *)a = *(const u32 *)b;
    while (size--) *(volatile u8 *)a++ = *b++;
    return to;
}
void *memset(void *to, int value, size_t size) {
    u8 *a = to;
    u32 word = (u8)value * 0x01010101u;
    if (!((uintptr_t)a & 3))
        for (; size >= 4; size -= 4, a += 4) *(volatile u32 *)a = word;
    while (size--) *(volatile u8 *)a++ = (u8)value;
    return to;
}
int memcmp(const void *one, const void *other, size_t size) {
    const u8 *a = one, *b = other;
    for (; size; size--, a++, b++)
        if (*a != *b) return *a - *b;
    return 0;
}
size_t strlen(const char *text) {
    const volatile char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}
bool equal(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}
bool begins(const char *text, const char *part) {
    while (*part && *text == *part) text++, part++;
    return !*part;
}
bool ends(const char *text, const char *part) {
    size_t size = strlen(text), last = strlen(part);
    return size >= last && equal(text + size - last, part);
}
bool contains(const u8 *bytes, u32 size, const char *part) {
    u32 length = (u32)strlen(part);
    for (u32 at = 0; at + length <= size; at++)
        if (!memcmp(bytes + at, part, length)) return true;
    return false;
}

void clear(struct text *to) { to->size = 0; to->at[0] = 0; }
void put_letter(struct text *to, char letter) {
    if (to->size + 1 >= to->room) return;
    to->at[to->size++] = letter;
    to->at[to->size] = 0;
}
void put(struct text *to, const char *text) { while (*text) put_letter(to, *text++); }
void put_hex(struct text *to, u64 value, u32 digits) {
    u32 count = 1;
    while (count < 16 && (count < digits || value >> (4 * count))) count++;
    while (count--) put_letter(to, "0123456789ABCDEF"[value >> (4 * count) & 15]);
}
void put_number(struct text *to, u32 value) {
    char digits[10];
    u32 count = 0;
    do digits[count++] = (char)('0' + value % 10); while (value /= 10);
    while (count--) put_letter(to, digits[count]);
}
void put_comma(struct text *to) { if (to->size) put(to, ", "); }
