#include "runtime.h"
static char line[64];
static void say(const char *text) { u32 n = 0; while (text[n]) n++; svc_print(text, n); }
static void number(u32 v) { u32 n = 64; line[--n] = '\n'; do { line[--n] = '0' + v % 10; v /= 10; } while (v); svc_print(line + n, 64 - n); }
int main(void) {
    say("hello\n");
    u64 a = svc_tick(); svc_sleep(1000000); u64 b = svc_tick();
    number((u32)(b - a));
    volatile float x = 1.5f; x *= 3; number((u32)(x * 100));
    return 0;
}
void start(void) { __asm__ volatile("bl main\n svc 0x03"); }
