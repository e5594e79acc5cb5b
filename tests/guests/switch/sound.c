/* The sound renderer as libnx's audio driver uses it: voices with wave buffers that take their time; then an output with buffers. */
#include "services.h"

enum { VOICES = 2, POOLS = 8, REVISION = 0x34564552, RATE = 48000, FRAME = 240 };
enum { ATTACH = 4, STARTED = 0, STOPPED = 1, PAUSED = 2, INT16 = 2, NO_MIX = 0x7FFFFFFF };

struct header { u32 revision, behaviour, pools, voices, channels, effects, mixes, sinks, performance, pad[6], total; };
struct pool { u64 address, size; u32 state, pad[3]; };
struct channel { u32 id; float mix[24]; u8 used, pad[11]; };
struct wave { u64 address, size; s32 start, end; u8 loops, last, sent, pad[5]; u64 context, context_size, more; };
struct voice {
    u32 id, node;
    u8 new, used, state, format;
    u32 rate, priority, order, channel_count;
    float pitch, volume;
    u8 filters[24];
    u32 queued;
    u16 head, pad1;
    u32 pad2;
    u64 parameters, parameters_size;
    u32 mix, splitter;
    struct wave waves[4];
    u32 channels[6];
    u8 pad3[24];
};
struct mix {
    float volume;
    u32 rate, buffers;
    u8 used, pad[3];
    u32 id, pad1, node, pad2[2];
    float mix[24][24];
    u32 target, splitter, pad3;
};
struct update {
    struct header header;
    struct { u32 revision, pad; u64 flags; } behaviour;
    struct pool pools[POOLS];
    struct channel channels[VOICES];
    struct voice voices[VOICES];
    struct mix mixes[1];
    u8 sinks[0x140];
    u32 performance[4];
};
struct answer {
    struct header header;
    struct { u32 state, pad[3]; } pools[POOLS];
    struct { u64 played; u32 consumed, drops; } voices[VOICES];
    u32 sinks[8], performance[4];
    struct { struct { u32 result, pad; u64 about; } errors[10]; u32 count, pad[3]; } behaviour;
};

static struct update wishes __attribute__((aligned(0x1000)));
static struct answer answer __attribute__((aligned(16)));
static u8 sound[0x10000] __attribute__((aligned(0x1000)));
static u32 renderer, event;

static void start(void) {
    struct { u32 parameters[13], pad; u64 size, user; } open = {
        .parameters = {RATE, FRAME, 2, 0, VOICES, 1, 0, 0, 0, 0, 0, 0, REVISION}};
    u32 manager = service("audren:u");
    check(ask(manager, 1, open.parameters, sizeof open.parameters, &open.size, 8), "GetWorkBufferSize");
    u64 reply[4];
    void *work = memory(open.size, 0x1000);
    check(svc_create_transfer_memory(0, (u64)work, open.size, 0, 0, 0, reply), "transfer memory");
    struct message one = {
        .command = 0, .arguments = &open, .size = sizeof open, .pid = 1, .copies = 2,
        .copy = {(u32)reply[0], CURRENT_PROCESS}};
    check(request(manager, &one), "OpenAudioRenderer");
    renderer = one.handle[0];
    close_session(manager);
    event = ask_object(renderer, 7, 0, 0);
    struct header *head = &wishes.header;
    head->revision = wishes.behaviour.revision = REVISION;
    head->behaviour = sizeof wishes.behaviour, head->pools = sizeof wishes.pools, head->voices = sizeof wishes.voices;
    head->channels = sizeof wishes.channels, head->mixes = sizeof wishes.mixes, head->sinks = sizeof wishes.sinks;
    head->performance = sizeof wishes.performance, head->total = sizeof wishes;
    wishes.mixes[0].volume = 1, wishes.mixes[0].rate = RATE, wishes.mixes[0].buffers = 2, wishes.mixes[0].used = 1;
    wishes.mixes[0].target = NO_MIX, wishes.mixes[0].splitter = ~0u;
}

/* An update, as audrvUpdate does it: what is new is new only once. */
static void update(void) {
    struct message one = {
        .command = 10, .ins = 1, .outs = 2, .in = {&wishes}, .in_size = {sizeof wishes}, .out = {&answer},
        .out_size = {sizeof answer}};
    check(request(renderer, &one), "RequestUpdateAuto");
    for (u32 n = 0; n < POOLS; n++)
        if (answer.pools[n].state) wishes.pools[n].state = answer.pools[n].state;
    for (u32 n = 0; n < VOICES; n++) {
        wishes.voices[n].new = 0;
        for (u32 place = 0; place < 4; place++) wishes.voices[n].waves[place].sent = 1;
    }
}
static void frames(u32 count) {
    while (count--) {
        check(wait_for(event, FOREVER), "a frame");
        check(svc_reset_signal(event, 0, 0, 0, 0, 0, 0), "ResetSignal");
    }
}
static void voice(u32 number, u32 state, float pitch) {
    struct voice *one = wishes.voices + number;
    one->id = number, one->new = one->used = 1, one->state = (u8)state, one->format = INT16, one->rate = RATE;
    one->channel_count = 1, one->pitch = pitch, one->volume = 1, one->splitter = ~0u, one->channels[0] = number;
    for (u32 place = 0; place < 4; place++) one->waves[place].sent = 1;
    wishes.channels[number].id = number, wishes.channels[number].used = 1;
}
static void wave(u32 number, u32 place, u32 samples, u32 loops) {
    wishes.voices[number].waves[place] =
        (struct wave){.address = (u64)sound, .size = 2 * samples, .end = (s32)samples, .loops = (u8)loops};
    wishes.voices[number].queued++;
}

static void output(void) {
    static struct { u64 next, data, room, size, offset; } buffers[2];
    static u8 name[0x100], opened[0x100];
    u32 manager = service("audout:u"), parameters[4] = {RATE, 2 << 16, 0, 0};
    struct message one = {
        .command = 3, .arguments = parameters, .size = 16, .pid = 1, .ins = 1, .outs = 1, .copies = 1, .in = {name},
        .in_size = {sizeof name}, .out = {opened}, .out_size = {sizeof opened}, .copy = {CURRENT_PROCESS}};
    check(request(manager, &one), "OpenAudioOut");
    u32 out = one.handle[0], channels = one.values[1], ready = ask_object(out, 4, 0, 0);
    say((const char *)opened);
    say_number(" channels", channels);
    for (u64 n = 0; n < 2; n++) {
        buffers[n].data = (u64)sound, buffers[n].room = buffers[n].size = 4 * 480 * (n + 1);
        u64 tag = (u64)(buffers + n);
        struct message append = {
            .command = 7, .arguments = &tag, .size = 8, .ins = 1, .in = {buffers + n}, .in_size = {sizeof buffers[n]}};
        check(request(out, &append), "AppendAudioOutBuffer");
    }
    u64 before = counter();
    check(ask(out, 1, 0, 0, 0, 0), "StartAudioOut");
    for (u64 n = 0; n < 2; n++) {
        u64 tag = 0;
        check(wait_for(ready, FOREVER), "a buffer");
        check(svc_reset_signal(ready, 0, 0, 0, 0, 0, 0), "ResetSignal");
        struct message released = {.command = 8, .outs = 1, .out = {&tag}, .out_size = {8}};
        check(request(out, &released), "GetReleasedAudioOutBuffers");
        say_hex("released", tag == (u64)(buffers + n));
        say_number("milliseconds", (counter() - before) / 19200);
    }
    u64 played;
    check(ask(out, 10, 0, 0, &played, 8), "GetAudioOutPlayedSampleCount");
    say_number("heard", played);
    close_session(out);
}

int main(void) {
    start();
    wishes.pools[0] = (struct pool){(u64)sound, sizeof sound, ATTACH, {0}};
    update();
    say_number("pool", answer.pools[0].state);
    voice(0, STARTED, 1), voice(1, STARTED, 2);
    wave(0, 0, 4800, 0), wave(0, 1, 2400, 0);
    wave(1, 0, 1000, 1);
    check(ask(renderer, 5, 0, 0, 0, 0), "Start");
    update();
    u64 before = counter();
    for (u32 last = 0; last < 2;) {
        frames(1);
        update();
        if (answer.voices[0].consumed == last) continue;
        last = answer.voices[0].consumed;
        say_number("consumed", last);
        say_number("milliseconds", (counter() - before) / 19200);
    }
    say_number("played", answer.voices[0].played);
    say_number("looped", answer.voices[1].played);
    wishes.voices[1].state = PAUSED;
    update();
    u64 played = answer.voices[1].played;
    frames(4);
    update();
    say_number("while paused", answer.voices[1].played - played);
    voice(1, STOPPED, 1);
    update();
    say_number("new", answer.voices[1].played + answer.voices[1].consumed);
    wishes.pools[0].state = 2;                                 /* detach */
    update();
    say_number("pool", answer.pools[0].state);
    wave(0, 2, 100, 0);
    update();
    say_number("errors", answer.behaviour.count);
    say_hex("error", answer.behaviour.errors[0].result);
    wishes.header.voices++;
    struct message wrong = {
        .command = 10, .ins = 1, .outs = 2, .in = {&wishes}, .in_size = {sizeof wishes}, .out = {&answer},
        .out_size = {sizeof answer}};
    say_hex("wrong", request(renderer, &wrong));
    check(ask(renderer, 6, 0, 0, 0, 0), "Stop");
    svc_reset_signal(event, 0, 0, 0, 0, 0, 0);
    say_hex("stopped", wait_for(event, 20000000));
    close_session(renderer);
    output();
    return 0;
}
