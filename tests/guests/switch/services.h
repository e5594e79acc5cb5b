/* A client of services: requests with buffers and handles, without domains. Source: libnx's sf/hipc.h, sf/cmif.h. */
#pragma once
#include "runtime.h"

struct buffer { const void *at; u64 size; };
struct request {
    u32 session, command;
    const void *data;                                      /* arguments */
    u32 size;
    int pid;                                               /* whether the process is told */
    u32 handle;                                            /* a handle to copy, if it is not 0 */
    struct buffer paths[2];                                /* sent as pointers */
    struct buffer in[2], out[2];                           /* sent as mapped memory */
    /* The answer. handles: copied ones before moved ones. */
    u64 values[16];
    u32 handles[4];
};

/* A session of a service; ends the program if there is none. try_service: 0 then. */
u32 service(const char *name);
u32 try_service(const char *name);
/* Sends a request; the service's result. */
u32 ask(struct request *one);
/* Ends a session. */
void hang_up(u32 session);
/* A request without buffers: command, its arguments, and the first handle that comes back. */
u32 ask_handle(u32 session, u32 command, const void *data, u32 size);
