/* Services of the Switch as these programs use them: messages (HIPC, CMIF), sm:, nvdrv, vi with its buffer queue.
 * Source of what is sent: libnx's sf/hipc.h, sf/cmif.h, services/sm.c, services/nv.c, services/vi.c, display/binder.c. */
#pragma once
#include "runtime.h"

/* A request, and what came back. Buffers are sent in both kinds that a service may want, unless `plain`. pointers: what
 * goes in are pointers only, as paths are. */
struct message {
    u32 command, size;                                     /* bytes of arguments */
    const void *arguments;
    u32 pid, plain, pointers, ins, outs, copies;
    const void *in[2];
    void *out[2];
    u64 in_size[2], out_size[2];
    u32 copy[2];
    /* the answer */
    const u32 *values;                                     /* in the thread's message */
    u32 handles, handle[4];                                /* copied ones, then moved ones */
};
u32 request(u32 session, struct message *one);             /* the result */
/* Plain requests: values in, values out. */
u32 ask(u32 session, u32 command, const void *arguments, u32 size, void *values, u32 values_size);
u32 ask_object(u32 session, u32 command, const void *arguments, u32 size);  /* the handle of what it gives */
u32 service(const char *name);                             /* its session; ends the program if there is none */
u32 find_service(const char *name, u32 *session);          /* the result */
void close_session(u32 session);

/* nvdrv. Results that are not 0 are returned; they are nvdrv's own or those of the request. */
void nv_start(void);
u32 nv_open(const char *path);                             /* its number */
u32 nv_close(u32 device);
u32 nv_control(u32 device, u32 request, void *data);       /* size and direction are in the request's word */
u32 nv_control2(u32 device, u32 request, void *data, const void *more, u32 more_size);
u32 nv_event(u32 device, u32 number);                      /* a handle; 0: there is no such event */
#define NV_W(number, size) (1u << 30 | (size) << 16 | (number))
#define NV_R(number, size) (2u << 30 | (size) << 16 | (number))
#define NV_RW(number, size) (3u << 30 | (size) << 16 | (number))
/* Memory of the program as an nvmap object; its handle. */
u32 nv_memory(void *at, u32 size, u32 kind);
extern u32 nv_map_device;

/* A window: the default display, one layer, its buffers. */
struct fences { u32 count, pairs[4][2]; };
struct buffer { u32 memory, offset, width, height, pitch, format, block_height_log2; };   /* block linear */
void window_open(void);
void window_set(u32 slot, const struct buffer *one);
s32 window_take(u32 *slot, struct fences *fences);         /* the queue's status; -11: none is free */
s32 window_wait(u32 *slot, struct fences *fences);         /* waits until one is free */
s32 window_show(u32 slot, u32 interval, u32 transform, const struct fences *fences);
s32 window_disconnect(void);
s32 window_connect(void);
s32 window_ask(u32 code, const void *arguments, u32 size, void *answer, u32 answer_size);  /* any code; bytes of the answer */
void window_close(void);
extern u32 window_event;                                   /* on while a buffer is free */
enum { WOULD_BLOCK = -11 };
