#include "homebrew.h"

__asm__(
    ".section .start_homebrew, \"ax\"\n"
    ".global start_homebrew\n"
    ".type start_homebrew, %function\n"
    "start_homebrew: b start\n"
    ".ascii \"_prm\"\n"
    ".word 0, 0, 0, 0, 0, 0\n"
    ".size start_homebrew, . - start_homebrew\n"
    ".text\n");

int equal(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}
const char *argument(u32 number) {
    u32 *list = (u32 *)start_homebrew.arguments;
    const char *at = (const char *)(list + 1);
    if (!list || number >= *list) return 0;
    while (number--) { while (*at) at++; at++; }
    return at;
}
/* What unwinding tables refer to; nothing is thrown here. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
