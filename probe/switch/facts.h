/* Made by tools/make_switch_probe_facts.py from src/pocketgpu/facts. Do not change it by hand. */
#pragma once
#include "../common/base.h"
#define PICTURES_COVERED 0x10000u
struct Create { u32 size; u32 handle; } __attribute__((packed));
_Static_assert(sizeof(struct Create) == 8, "");
#define NV_Create 0xC0080101u
struct Alloc { u32 handle; u32 heap; u32 flags; u32 align; u8 kind; u8 pad_11[7]; u64 address; } __attribute__((packed));
_Static_assert(sizeof(struct Alloc) == 32, "");
#define NV_Alloc 0xC0200104u
struct GetId { u32 id; u32 handle; } __attribute__((packed));
_Static_assert(sizeof(struct GetId) == 8, "");
#define NV_GetId 0xC008010Eu
struct Free { u32 handle; u8 pad_4[4]; u64 address; u32 size; u32 flags; } __attribute__((packed));
_Static_assert(sizeof(struct Free) == 24, "");
#define NV_Free 0xC0180105u
struct InitializeEx { u32 flags; s32 fd; u32 big_page_size; u8 pad_c[4]; u64 start; u64 end; u64 split; } __attribute__((packed));
_Static_assert(sizeof(struct InitializeEx) == 40, "");
#define NV_InitializeEx 0x40284109u
struct AllocSpace { u32 pages; u32 page_size; u32 flags; u8 pad_c[4]; u64 offset; } __attribute__((packed));
_Static_assert(sizeof(struct AllocSpace) == 24, "");
#define NV_AllocSpace 0xC0184102u
struct MapBufferEx { u32 flags; u32 kind; u32 handle; u32 page_size; u64 buffer_offset; u64 size; u64 offset; } __attribute__((packed));
_Static_assert(sizeof(struct MapBufferEx) == 40, "");
#define NV_MapBufferEx 0xC0284106u
struct UnmapBuffer { u64 offset; } __attribute__((packed));
_Static_assert(sizeof(struct UnmapBuffer) == 8, "");
#define NV_UnmapBuffer 0xC0084105u
struct BindChannel { u32 channel; } __attribute__((packed));
_Static_assert(sizeof(struct BindChannel) == 4, "");
#define NV_BindChannel 0x40044101u
struct SetNvmapFd { u32 fd; } __attribute__((packed));
_Static_assert(sizeof(struct SetNvmapFd) == 4, "");
#define NV_SetNvmapFd 0x40044801u
struct AllocGpfifoEx2 { u32 entries; u32 jobs; u32 flags; u32 syncpoint; u32 value; u8 pad_14[12]; } __attribute__((packed));
_Static_assert(sizeof(struct AllocGpfifoEx2) == 32, "");
#define NV_AllocGpfifoEx2 0xC020481Au
struct AllocObjCtx { u32 class_; u32 flags; u64 id; } __attribute__((packed));
_Static_assert(sizeof(struct AllocObjCtx) == 16, "");
#define NV_AllocObjCtx 0xC0104809u
struct SetErrorNotifier { u64 offset; u64 size; u32 on; u8 pad_14[4]; } __attribute__((packed));
_Static_assert(sizeof(struct SetErrorNotifier) == 24, "");
#define NV_SetErrorNotifier 0xC018480Cu
struct SetPriority { u32 priority; } __attribute__((packed));
_Static_assert(sizeof(struct SetPriority) == 4, "");
#define NV_SetPriority 0x4004480Du
struct KickoffPb { u64 address; u32 entries; u32 flags; u32 syncpoint; u32 value; } __attribute__((packed));
_Static_assert(sizeof(struct KickoffPb) == 24, "");
#define NV_KickoffPb 0xC018481Bu
struct GetErrorNotification { u64 nanoseconds; u32 info; u16 code; u16 status; } __attribute__((packed));
_Static_assert(sizeof(struct GetErrorNotification) == 16, "");
#define NV_GetErrorNotification 0x80104817u
struct SyncptRead { u32 id; u32 value; } __attribute__((packed));
_Static_assert(sizeof(struct SyncptRead) == 8, "");
#define NV_SyncptRead 0xC0080014u
#define NV_FIXED 0x1u
#define NV_INCREMENTS 0x100u
#define CLASS_3D 0xB197u
#define METHODS 0x20000000u
#define METHOD_COUNT_SHIFT 16
#define HOST_WFI 0x1Eu
#define HOST_MEM_OP_B 0xBu
#define HOST_SYNCPOINTA 0x1Cu
#define HOST_SYNCPOINTB 0x1Du
#define L2_SYSMEM_INVALIDATE 0x70000000u
#define L2_FLUSH_DIRTY 0x80000000u
#define HOST_INCREMENT 0x1u
#define HOST_INDEX_SHIFT 8
#define ENTRY_LENGTH_SHIFT 42
#define ENTRY_SUBROUTINE 0x20000000000ull
#define MOST_ENTRIES 0x400u
#define MOST_SYNCPOINTS 0x8u
#define MOST_CHANNELS 0x18u
#define MOST_MAPS 0x400u
#define MOST_HANDLES 0x200u
#define MOST_SPACES 0x40u
#define MOST_FILE 0x4000000u
#define BIG_PAGE 0x10000u
#define SMALL_PAGE 0x1000u
#define MOST_RANGES 0x40u
#define WORD_HOST_NUMBER 'n'
#define WORD_ENGINE_NUMBER 'm'
#define WORD_THRESHOLD 'w'
#define WORD_REACHED 'r'
