/* The GPU, by way of gsp::Gpu. Addresses of memory are virtual here, those of registers physical. Licence: 0BSD. */
#pragma once
#include "kernel.h"

#define UNIT(name) (1u << INTERRUPT_##name)

bool gpu_begin(void);
void gpu_end(void);

u32 gpu_write(u32 address, u32 value);                   /* a result code */
u32 gpu_write_part(u32 address, u32 value, u32 mask);
u32 gpu_read(u32 address);
u32 gpu_command(const u32 words[8]);                     /* queue a GX command; the result code of gsp */
u32 gpu_units_of_write(u32 address, u32 value);          /* the units that it starts */
u32 gpu_units_of_command(const u32 words[8]);

/* Interrupts. `gpu_counts` counts them while `gpu_counting`. */
extern u32 gpu_counts[INTERRUPTS];
extern bool gpu_counting;
void gpu_begin_wait(u32 units);                          /* before they are started */
/* Wait until these units have reported, or are idle without a report; returns those that still work after so long. */
u32 gpu_wait(u32 units, u32 milliseconds);
void gpu_next_picture(void);                             /* wait until both screens have begun one */
void gpu_reset(void);

/* Memory. The processor writes main memory, and lets the GPU see it; it reaches video memory through copies. */
void gpu_flush(u32 address, u32 size);
void gpu_invalidate(u32 address, u32 size);
bool gpu_copy(u32 from, u32 to, u32 size);
bool gpu_clear_video_memory(void);

/* A framebuffer entry, which gsp shows from the next picture on; the second makes one. */
void gpu_show_entry(u32 screen, const u32 words[7]);
void gpu_show(u32 screen, u32 address, u32 stride, u32 format);
