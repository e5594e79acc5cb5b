/* The GPU by way of the system's driver (nvdrv): memory, addresses, channels. Functions answer 0 if all went well;
 * otherwise `gpu_why` says what the system refused. Source: libnx's nvidia/ioctl and gpu_channel.c.
 * Licence: 0BSD. */
#pragma once
#include "facts.h"
#include "kernel.h"

extern char gpu_why[160];

struct object { u8 *at; u64 size; u32 handle; };           /* memory that the GPU can see */
struct channel { u64 number, event; u32 device, syncpoint, fence, frame, waits, ended; };

bool gpu_is_application(void);                             /* or an applet, as the loader says */
int gpu_open(void *transfer, u32 size);                    /* once; memory for the driver */
int gpu_begin(void *commands);                             /* an address space; a page for words of our own */
int gpu_reserve(u64 address, u64 size, u32 page);
int gpu_object(struct object *one);                        /* of memory that is zeroed and then not cached */
int gpu_id(const struct object *one, u32 *id);             /* by which the display knows it */
int gpu_map(const struct object *one, u64 offset, u64 size, u32 kind, u32 page, u64 address);
int gpu_unmap(u64 address);
int gpu_release(struct object *one);
int gpu_channel(struct channel *one);
/* Entries of 8 bytes. The channel's fence is then what its syncpoint has when all is done. */
int gpu_submit(struct channel *one, const u8 *entries, u32 count);
int gpu_reached(const struct channel *one);                /* 1: it is */
int gpu_value(u32 syncpoint, u32 *value);
u32 gpu_error(const struct channel *one);                  /* the code of its error; 0: there was none */
void gpu_close(struct channel *one);
void gpu_end(void);                                        /* the address space goes */
void gpu_quit(void);                                       /* all that gpu_open made */
#define OBJECT_STEP BIG_PAGE                               /* sizes of objects are multiples of it */
