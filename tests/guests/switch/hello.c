/* Text, arguments, the loader's entries, the counter. */
#include "runtime.h"
static u32 zeros[1000], numbers[4] = {1, 2, 3, 4};
static const char *volatile names[] = {"one", "two", "three"};
static u32 *volatile pointer = &numbers[2];

int main(void) {
    u32 sum = 0;
    for (u32 n = 0; n < 1000; n++) sum |= zeros[n];
    say("hello\n");
    say_number("bss", sum);
    say_number("data", *pointer);
    for (u32 n = 0; n < 3; n++) { say(names[n]); say("\n"); }
    const char *text;
    for (u32 n = 0; (text = argument(n)); n++) { say(text); say("\n"); }
    say_hex("heap", entry_value(HEAP, 1));
    say_hex("applet", entry_value(APPLET, 0));
    say_hex("version", entry_value(VERSION, 0));
    say_hex("random", entry_value(RANDOM, 0));
    u8 *block = memory(1000, 256);
    say_number("aligned", ((u64)block & 255) == 0 && block[999] == 0);
    u64 rate, virtual_count, start = counter(), now;
    __asm__ volatile("mrs %0, cntfrq_el0\nmrs %1, cntvct_el0" : "=r"(rate), "=r"(virtual_count));
    say_number("rate", rate);
    say_number("same", virtual_count - start < 100);
    do now = counter(); while (now - start < 1920);         /* 100 us */
    say_number("waited", now - start < 1920 + 100);
    return 7;
}
