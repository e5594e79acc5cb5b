"""Rules about channels, memory and programs: what ends or breaks a run."""

from __future__ import annotations

from collections.abc import Iterable

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.switch.record import SwitchRecord

RULES = RuleSet("Switch")


@RULES.rule(
    "switch.deadlock",
    "a channel waits for a semaphore or syncpoint that nothing releases",
    severity="error",
    confidence="documented",
    source="class header clb06f.h, SEMAPHORED and SYNCPOINTB",
    explanation="The channel stops, and so does everything that waits for it.",
    hint="Release the semaphore, or increment the syncpoint, in a submission that can run.",
)
def deadlock(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of("channel.deadlock")


@RULES.rule(
    "switch.fence",
    "a surface is shown before its fence is reached",
    severity="warning",
    confidence="documented",
    source="libnx, NvMultiFence of a queued buffer",
    explanation="The submissions so far never reach the fence: the screen would wait, or show an old picture.",
    hint="Increment the syncpoint at the end of the submission that draws the surface.",
)
def fence(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of("present.fence")


_IDS = (
    "memory.unmapped", "engine.range", "channel.unmapped_pushbuffer", "channel.semaphore_unmapped",
    "present.unmapped", "dma.transfer", "channel.constant_unmapped",
)  # fmt: skip


@RULES.rule(
    "switch.unmapped",
    "an engine reads or writes addresses where nothing is mapped",
    severity="error",
    confidence="documented",
    source="Switchbrew, NV services (nvgpu address spaces); deko3d",
    explanation="The GPU raises a fault, and the channel is put into its error state.",
    hint="Map the memory before the submission, and keep it mapped until that has ended.",
)
def unmapped(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of(*_IDS)


@RULES.rule(
    "switch.fault",
    "a program reads or writes an invalid address",
    severity="error",
    confidence="documented",
    source="Switchbrew, NV services (error notifiers); envytools, GF100 traps",
    explanation="Misaligned accesses and addresses that are not mapped end the program with an exception.",
    hint="The message names the instruction and the thread.",
)
def fault(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of("compute.fault", "draw.fault", "compute.launch", "draw.refused")


_HANG_IDS = ("compute.hang", "draw.hang", "compute.chain", "mme.endless", "channel.words")


@RULES.rule(
    "switch.hang",
    "a program, a macro or a pushbuffer does not end",
    severity="error",
    confidence="documented",
    source="Switchbrew, NV services (channel timeouts)",
    explanation="The system resets the channel after some seconds.",
    hint="Look at loops, and at barriers that not all warps reach.",
)
def hang(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of(*_HANG_IDS)


_ILLEGAL_IDS = (
    "channel.illegal_entry", "channel.illegal_header", "channel.illegal_method", "channel.unknown_class",
    "channel.semaphore", "inline.too_long", "draw.topology", "draw.outside", "draw.index_size", "draw.count",
)  # fmt: skip


@RULES.rule(
    "switch.illegal",
    "a pushbuffer has entries, classes or values that do not exist",
    severity="error",
    confidence="documented",
    source="class headers of NVIDIA; Switchbrew, NV services",
    explanation="The channel is put into its error state.",
    hint="The message names the method.",
)
def illegal(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of(*_ILLEGAL_IDS)


@RULES.rule(
    "switch.unknown-method",
    "a pushbuffer writes methods that the class does not have",
    severity="warning",
    confidence="inferred",
    source="class headers of NVIDIA, which leave some methods out",
    explanation="They have no effect here. A header that is out of step with its data can also be the cause.",
    hint="Compare the word with the class's header.",
)
def unknown_method(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of("channel.unknown_method")


_MACRO_IDS = (
    "mme.missing_parameter", "mme.leftover_parameter", "mme.branch_in_slot", "mme.instruction", "mme.host_method",
    "mme.nested_call", "mme.ram",
)  # fmt: skip


@RULES.rule(
    "switch.macro",
    "a macro gets too few or too many parameters, or does what the macro engine cannot",
    severity="warning",
    confidence="inferred",
    source="class header clb197.h, CALL_MME_MACRO; envytools, MME instruction set",
    explanation="A macro that waits for a parameter stops its channel. The other cases are not known.",
    hint="Send as many parameters as the macro fetches; `pocketgpu macro dis` shows it.",
)
def macro(record: SwitchRecord) -> Iterable[Found]:
    return record.findings_of(*_MACRO_IDS)


@RULES.rule(
    "switch.cache-stale",
    "the GPU or the display reads what the processor wrote without writing its cache back",
    severity="warning",
    confidence="documented",
    source="libnx, arm/cache.h and nvidia/map.c; deko3d, DkMemBlockFlags_CpuCached",
    explanation=(
        "The GPU does not see the processor's cache, and reads older data. Only memory that the program caches is "
        "looked at: CPU-cached blocks of deko3d, libnx's framebuffers. It is found for programs (app.nro, app.elf), "
        "which are run a second time and watched, byte by byte; recordings have no cache instructions."
    ),
    hint="Call armDCacheFlush or dkMemBlockFlushCpuCache after writing, or make the block uncached.",
)
def cache_stale(record: SwitchRecord) -> Iterable[Found]:
    return record.live or ()
