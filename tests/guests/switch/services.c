#include "services.h"

enum { CLOSE = 2, REQUEST = 4, WORDS = 64 };

static u32 port(void) {
    static u32 session;
    if (!session) {
        static const char name[8] = "sm:";
        u64 reply[4], nothing = 0;
        check(svc_connect(0, (u64)name, 0, 0, 0, 0, reply), "ConnectToNamedPort");
        session = (u32)reply[0];
        struct request first = {.session = session, .command = 0, .data = &nothing, .size = 8, .pid = 1};
        check(ask(&first), "RegisterClient");
    }
    return session;
}

u32 try_service(const char *name) {
    u64 word = 0;
    for (u32 n = 0; name[n]; n++) word |= (u64)(u8)name[n] << 8 * n;
    struct request one = {.session = port(), .command = 1, .data = &word, .size = 8};
    u32 result = ask(&one);
    if (result) say_hex(name, result);
    return result ? 0 : one.handles[0];
}
u32 service(const char *name) {
    u32 session = try_service(name);
    if (!session) leave(1);
    return session;
}

static u32 *add_mapped(u32 *word, const struct buffer *one) {
    u64 at = (u64)one->at;
    word[0] = (u32)one->size;
    word[1] = (u32)at;
    word[2] = (u32)(at >> 36) << 2 | (u32)(one->size >> 32) << 24 | (u32)(at >> 32 & 15) << 28;
    return word + 3;
}

u32 ask(struct request *one) {
    u32 *message = tls(), *word = message + 2, counts[3] = {0, 0, 0};
    for (u32 n = 0; n < WORDS; n++) message[n] = 0;
    for (u32 n = 0; n < 2; n++) {
        counts[0] += one->paths[n].at != 0;
        counts[1] += one->in[n].at != 0;
        counts[2] += one->out[n].at != 0;
    }
    int special = one->pid || one->handle;
    if (special) {
        *word++ = (u32)(one->pid != 0) | (u32)(one->handle != 0) << 1;
        if (one->pid) word += 2;
        if (one->handle) *word++ = one->handle;
    }
    for (u32 n = 0; n < counts[0]; n++) {
        u64 at = (u64)one->paths[n].at;
        *word++ = n | (u32)(at >> 36 & 7) << 6 | (u32)(at >> 32 & 15) << 12 | (u32)one->paths[n].size << 16;
        *word++ = (u32)at;
    }
    for (u32 n = 0; n < counts[1]; n++) word = add_mapped(word, &one->in[n]);
    for (u32 n = 0; n < counts[2]; n++) word = add_mapped(word, &one->out[n]);
    u32 words = (16 + 16 + one->size + 3) / 4;             /* up to 16 bytes are lost to the alignment */
    message[0] = REQUEST | counts[0] << 16 | counts[1] << 20 | counts[2] << 24;
    message[1] = words | (u32)special << 31;
    u32 *data = message + ((word - message) + 3) / 4 * 4;
    data[0] = 0x49434653;                                  /* SFCI */
    data[2] = one->command;
    for (u32 n = 0; n < one->size; n++) ((u8 *)(data + 4))[n] = ((const u8 *)one->data)[n];
    u32 result = svc_send(one->session, 0, 0, 0, 0, 0, 0);
    if (result) return result;
    word = message + 2;
    u32 count = 0;
    if (message[1] >> 31) {
        u32 head = *word++;
        if (head & 1) word += 2;
        for (u32 n = (head >> 1 & 15) + (head >> 5 & 15); n; n--) {
            u32 handle = *word++;
            if (count < 4) one->handles[count++] = handle;
        }
    }
    data = message + ((word - message) + 3) / 4 * 4;
    if (data[0] != 0x4F434653) return 0xFFFF;              /* SFCO */
    for (u32 n = 0; n < 32 && data + 4 + n < message + WORDS; n++) ((u32 *)one->values)[n] = data[4 + n];
    return data[2];
}

void hang_up(u32 session) {
    u32 *message = tls();
    message[0] = CLOSE;
    message[1] = 0;
    svc_send(session, 0, 0, 0, 0, 0, 0);
    svc_close(session, 0, 0, 0, 0, 0, 0);
}

u32 ask_handle(u32 session, u32 command, const void *data, u32 size) {
    struct request one = {.session = session, .command = command, .data = data, .size = size};
    check(ask(&one), "request");
    return one.handles[0];
}
