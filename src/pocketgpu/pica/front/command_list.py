"""The compiled command list walk: words become register writes, FIFO uploads and recorded draws.

The walk returns to Python only when the list ends or something must be reported. A draw is recorded as a packet: a copy
of the registers, and references to the current versions of the banks (uniforms, programs, tables). A bank is copied at
its first use after a change. So state may change after a draw without waiting for the draw.

Source: 3dbrew GPU/Internal Registers (command list entries, FIFO registers), GBATEK (interrupt registers).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pocketgpu.facts.list_entry import BYTE_MASK, CONSECUTIVE, EXTRA, ID
from pocketgpu.facts.pica import (
    ATTRIBUTES,
    FINALIZE_VALUE,
    FLOAT_UNIFORMS,
    IMMEDIATE_INDEX,
    LIGHT_TABLES,
    LOADER_STEP,
    PICA,
)
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.lanes import BOOL, I32, I64, U8, Lang, Value, kernel
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    BANKS,
    GROUP,
    ID_SPACE,
    KIND_ARRAYS,
    KIND_ELEMENTS,
    KIND_IMMEDIATE,
    MAX_PACKETS,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    PROCTEX_TABLES,
    REGISTER_COUNT,
    WorkLayout,
    words_of,
)
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.registers import LiveRegisters, field, narrow_float, part, register_id

# Why a walk ended. JUMPED is used inside the kernel only: the walk leaves an entry early and continues elsewhere.
RUNNING, ENDED, STOPPED, FULL, UNMAPPED_JUMP, BUDGET, JUMPED = range(7)

# Limits of one submission, far more than any program sends in a frame.
WORD_BUDGET = 1 << 26
JUMP_BUDGET = 1 << 14


def _effects() -> tuple[np.ndarray, list[str]]:
    """The effect of a write to each register id besides the store: a code for each id, and the names of the codes."""
    names = [
        "store", "ignore", "request", "arrays", "elements", "fixed_index", "fixed_data", "jump0", "jump1", "restart",
        "vs_uniform_index", "vs_uniform_data", "vs_code", "vs_opdescs", "vs_setup", "gs_bools",
        "gs_uniform_index", "gs_uniform_data", "gs_code", "gs_opdescs", "fog", "lighting", "proctex", "gas",
    ]  # fmt: skip
    code = {name: i for i, name in enumerate(names)}
    table = np.full(ID_SPACE, code["ignore"], np.uint8)
    table[register_id("FACECULLING_CONFIG") : REGISTER_COUNT] = code["store"]

    def put(effect: str, *registers: str) -> None:
        for name in registers:
            table[register_id(name)] = code[effect]

    put("request", "FINALIZE", *(f"IRQ_REQ{i}" for i in range(1, 16)))
    put("arrays", "DRAWARRAYS")
    put("elements", "DRAWELEMENTS")
    put("fixed_index", "FIXEDATTRIB_INDEX")
    put("fixed_data", *(f"FIXEDATTRIB_DATA{i}" for i in range(3)))
    put("jump0", "CMDBUF_JUMP0")
    put("jump1", "CMDBUF_JUMP1")
    put("restart", "PRIMITIVE_CONFIG", "RESTART_PRIMITIVE")
    for unit in ("VSH", "GSH"):
        prefix = unit[:2].lower() + "_"
        put(prefix + "uniform_index", f"{unit}_FLOATUNIFORM_INDEX")
        put(prefix + "uniform_data", *(f"{unit}_FLOATUNIFORM_DATA{i}" for i in range(8)))
        put(prefix + "code", *(f"{unit}_CODETRANSFER_DATA{i}" for i in range(8)))
        put(prefix + "opdescs", *(f"{unit}_OPDESCS_DATA{i}" for i in range(8)))
    put("vs_setup", "VSH_BOOLUNIFORM", *(f"VSH_INTUNIFORM_I{i}" for i in range(4)), "VSH_OUTMAP_MASK")
    put("gs_bools", "GSH_BOOLUNIFORM")
    tables = [name for name, _ in PICA.places if "_LUT_DATA" in name]
    for bank in ("fog", "lighting", "proctex"):
        data = f"{bank.upper()}_LUT_DATA", f"TEXUNIT3_{bank.upper()}_LUT_DATA"
        put(bank, *(name for name in tables if name.startswith(data)))
    put("gas", "GAS_LUT_DATA")
    return table, names


EFFECT_TABLE, EFFECT_NAMES = _effects()


def effect_table(choices: Mapping[str, str]) -> np.ndarray:
    """The effect of a write to each register id under these choices."""
    table = EFFECT_TABLE.copy()
    if choices["list.private_ids"] == "store":
        table[: register_id("FINALIZE")] = EFFECT_NAMES.index("store")
        table[register_id("IRQ_CMP0") : register_id("FACECULLING_CONFIG")] = EFFECT_NAMES.index("store")
    return table


WALK_CHOICES = (
    "list.high_ids", "list.fifo_mask", "list.jump_value", "list.end_match", "draw.trigger_value", "vertex.fixed_index",
)  # fmt: skip
"""Choices that affect the walk."""

_LOW_BYTE = 0xFF

# From a register of the vertex units to the same register of the geometry unit.
_TO_GEOMETRY = register_id("GSH_BOOLUNIFORM") - register_id("VSH_BOOLUNIFORM")
_GEOMETRY_BANKS = ("gs_uniforms", "gs_code", "gs_opdescs", "gs_uniform_marks")


class Walk:
    """The parts of the walk; `w` is the written word, `number` its register id."""

    def __init__(self, k: Lang, layout: WorkLayout, choices: Mapping[str, str]) -> None:
        self.k, self.layout, self.choices = k, layout, choices
        self.live = LiveRegisters(k, k.i64(layout.registers))
        self.status = k.var(RUNNING)
        self.position = k.var(self.get("POSITION"))
        self.end = k.var(self.get("END"))

    # -- control words ------------------------------------------------------------------------------------------
    def at(self, name: str) -> int:
        return self.layout.control + int(getattr(C, name))

    def get(self, name: str) -> Value:
        return self.k.load(I32, self.at(name))

    def put(self, name: str, value: Value | int) -> None:
        self.k.store(I32, self.at(name), value)

    def set_register(self, number: int, value: Value) -> None:
        self.k.store(I32, self.layout.registers + 4 * number, value)

    def mark(self, bank: str) -> None:
        self.put("DIRTY", self.get("DIRTY") | (1 << BANK_INDEX[bank]))

    # -- draws --------------------------------------------------------------------------------------------------
    def record(self, kind: int) -> Value:
        """Append a packet; returns its offset, or 0 with status FULL when the recorded draws must run first."""
        k, layout = self.k, self.layout
        count, top = self.get("PACKETS"), k.var(self.get("POOL_TOP"))
        space = 4 * sum(bank.words for bank in BANKS) + 64
        made = k.var(k.i64(0))
        room = (count < MAX_PACKETS) & (top.value + space < layout.pool_end)
        for _ in k.when(~room):
            self.status.value = FULL
        for _ in k.when(room):
            packet = k.to_i64(count * PACKET_SIZE + layout.packets)
            made.value = packet
            # Banks that only geometry programs read are copied only for draws with one.
            geometry = sum(1 << BANK_INDEX[name] for name in _GEOMETRY_BANKS)
            unseen = k.select(self.live("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON, 0, geometry)
            dirty = self.get("DIRTY") & ~unseen
            for i, bank in enumerate(BANKS):
                version = self.at("VERSIONS") + 4 * i
                for _ in k.when((dirty & (1 << i)) != 0):
                    self._copy(layout.banks[i], k.to_i64(top.value), bank.words)
                    k.store(I32, version, top.value)
                    top.value = top.value + ((4 * bank.words + 63) & ~63)
                k.store(I32, packet + (PACKET.VERSIONS + 4 * i), k.load(I32, version))
            self.put("DIRTY", self.get("DIRTY") & unseen)
            self._copy(layout.registers, packet + PACKET_REGISTERS, REGISTER_COUNT)
            for name, value in (
                ("KIND", k.i32(kind)),
                ("RESTART", self.get("RESTART")),
                ("IMMEDIATE_DATA", top.value),
                ("IMMEDIATE_COUNT", k.i32(0)),
                ("GS_BOOLS", self.get("GS_BOOLS")),
                ("AT", self.position.value),
            ):
                k.store(I32, packet + getattr(PACKET, name), value)
            self._join_group(packet, count, kind)
            self.put("RESTART", 0)
            self.put("PACKETS", count + 1)
            self.put("POOL_TOP", top.value)
        return made.value

    def _join_group(self, packet: Value, count: Value, kind: int) -> None:
        """Add a packet to the last group, or begin a new group if the packet before differs in a shared word."""
        k, layout = self.k, self.layout
        low, high = self._reads(kind)
        groups = self.get("GROUPS")
        begun = k.var(k.select(self._same(packet, count), groups - 1, groups))
        group = k.to_i64(begun.value * GROUP.size) + layout.groups
        for _ in k.when(begun.value == groups):
            self.put("GROUPS", groups + 1)
            k.store(I64, group + GROUP.FIRST, k.to_i64(count))
            k.store(I64, group + GROUP.LOW, low)
            k.store(I64, group + GROUP.HIGH, high)
            for i in k.range(0, self.get("GROUP_WORDS"), 8):
                at = k.to_i64(i << 3) + layout.group_table
                word = k.gather(I32, k.to_i64(k.load(I32, at, lanes=8) << 2) + PACKET_REGISTERS + packet)
                k.store(I32, k.to_i64(i << 2) + group + GROUP.WORDS, word & k.load(I32, at + 32, lanes=8))
        k.store(I64, group + GROUP.END, k.to_i64(count + 1))
        k.store(I64, group + GROUP.LOW, k.min(low, k.load(I64, group + GROUP.LOW)))
        k.store(I64, group + GROUP.HIGH, k.max(high, k.load(I64, group + GROUP.HIGH)))

    def _same(self, packet: Value, count: Value) -> Value:
        """Whether the packet before has the same words of the group table and the same programs."""
        k = self.k
        same = k.var(k.i32(0))
        for _ in k.when(count > 0):
            before = packet - PACKET_SIZE
            difference = k.var(k.fit(0, I32, 8))
            for i in k.range(0, self.get("GROUP_WORDS"), 8):
                at = k.to_i64(i << 3) + self.layout.group_table
                place = k.to_i64(k.load(I32, at, lanes=8) << 2) + PACKET_REGISTERS
                new, old = k.gather(I32, place + packet), k.gather(I32, place + before)
                difference.value = difference.value | ((new ^ old) & k.load(I32, at + 32, lanes=8))
            changed = k.any(difference.value != 0)
            for bank in ("vs_code", "vs_opdescs", "gs_code", "gs_opdescs"):
                at_bank = PACKET.VERSIONS + 4 * BANK_INDEX[bank]
                changed = changed | (k.load(I32, packet + at_bank) != k.load(I32, before + at_bank))
            same.value = k.select(changed, 0, 1)
        return same.value != 0

    def _reads(self, kind: int) -> tuple[Value, Value]:
        """The range that vertices and indices may come from; it may be too large, never too small."""
        k, live = self.k, self.live
        wide = lambda v: k.to_i64(v, signed=False)
        low, high = k.var(k.i64(1 << 40)), k.var(k.i64(0))

        def note(first: Value, size: Value) -> None:
            low.value = k.min(low.value, first)
            high.value = k.max(high.value, first + size)

        if kind != KIND_IMMEDIATE:
            base, count = wide(live.bytes("ATTRIBBUFFERS_LOC.base")), wide(live("NUMVERTICES.count"))
            last = k.i64(0x10000)
            if kind == KIND_ARRAYS:
                last = wide(live("VERTEX_OFFSET.first")) + count
            else:
                note(base + wide(live("INDEXBUFFER_CONFIG.offset")), count * 2)
            offset, config = field("ATTRIBBUFFER0_OFFSET.offset"), register_id("ATTRIBBUFFER0_CONFIG2")
            stride, used = field("ATTRIBBUFFER0_CONFIG2.stride"), field("ATTRIBBUFFER0_CONFIG2.count")
            for loader in k.range(0, ATTRIBUTES):
                setup = live.word(loader * LOADER_STEP + config)
                for _ in k.when(part(setup, used) != 0):
                    place = part(live.word(loader * LOADER_STEP + offset.register.offset), offset)
                    note(base + wide(place), wide(part(setup, stride)) * last + 256)
        return low.value, high.value

    def _copy(self, source: int, target: Value, words: int) -> None:
        k = self.k
        for i in k.range(0, 4 * words, 32):
            at = k.to_i64(i)
            k.store(I32, target + at, k.load(I32, at + source, lanes=8))

    # -- FIFOs --------------------------------------------------------------------------------------------------
    def stage(self, unit: str, w: Value, full: Value | int) -> tuple[Value, Value]:
        """Put a word into a staging buffer of `full` words; returns (buffer complete, address of the staging words)."""
        k = self.k
        count = self.get(f"STAGED_{unit}")
        staging = self.at(f"STAGING_{unit}")
        k.store(I32, k.to_i64(count << 2) + staging, w)
        return count + 1 >= full, k.i64(staging)

    def unpack_f24(self, staging: Value) -> list[Value]:
        """Three staged words as x, y, z, w: W is the top 24 bits of the first word, X the low 24 bits of the last."""
        k = self.k
        a, b, c = (k.load(I32, staging + 4 * i) for i in range(3))
        w, z = a.lsr(8), ((a & 0xFF) << 16) | b.lsr(16)
        y, x = ((b & 0xFFFF) << 8) | c.lsr(24), c & 0xFFFFFF
        return [narrow_float(k, v, 7, 16) for v in (x, y, z, w)]

    def fixed_data(self, w: Value) -> None:
        """Three words make one attribute: a fixed one (index 0-11) or the next of an immediate vertex (index 15)."""
        k, layout = self.k, self.layout
        index = self.live("FIXEDATTRIB_INDEX.index")
        complete, staging = self.stage("FIXED", w, 3)
        for _ in k.when(~complete):
            self.put("STAGED_FIXED", self.get("STAGED_FIXED") + 1)
        for _ in k.when(complete):
            values = self.unpack_f24(staging)
            for _ in k.when(index == IMMEDIATE_INDEX):
                for _ in k.when(self.get("IMMEDIATE_OPEN") == 0):
                    for _ in k.when(self.record(KIND_IMMEDIATE) != 0):
                        self.put("IMMEDIATE_OPEN", 1)
                top = self.get("POOL_TOP")
                for _ in k.when(top + 64 >= layout.pool_end):
                    self.status.value = FULL
                for _ in k.when(self.status.value == RUNNING):
                    for i, v in enumerate(values):
                        k.store(I32, k.to_i64(top) + 4 * i, k.bits_i32(v))
                    self.put("POOL_TOP", top + 16)
                    packet = k.to_i64((self.get("PACKETS") - 1) * PACKET_SIZE + layout.packets)
                    at = packet + PACKET.IMMEDIATE_COUNT
                    k.store(I32, at, k.load(I32, at) + 1)
            for _ in k.when(index < ATTRIBUTES):
                base = k.to_i64(index << 4) + layout.bank("fixed_attributes")
                for i, v in enumerate(values):
                    k.store(I32, base + 4 * i, k.bits_i32(v))
                self.mark("fixed_attributes")
                if "vertex.fixed_index" not in self.choices:
                    self.set_register(register_id("FIXEDATTRIB_INDEX"), index + 1)
            for _ in k.when(self.status.value == RUNNING):
                self.put("STAGED_FIXED", 0)

    def shared(self) -> Value:
        """Whether the fourth shader unit is a vertex unit too: it then receives the same uploads."""
        return (self.live("VSH_COM_MODE.separate") == 0) & (self.live("GEOSTAGE_CONFIG.mode") == 0)

    def set_up_vertices(self, number: Value) -> None:
        """A vertex unit register that the fourth unit also receives."""
        k, own = self.k, number + _TO_GEOMETRY
        for _ in k.when(self.shared()):
            k.store(I32, k.to_i64(own << 2) + self.layout.registers, self.live.word(number))
            for _ in k.when(own == register_id("GSH_BOOLUNIFORM")):
                self.new_bools()

    def new_bools(self) -> None:
        self.put("GS_BOOLS", self.get("GS_BOOLS") + 1)

    def uniform(self, prefix: str, unit: str, w: Value) -> None:
        """Float uniforms: three words of packed f24 or four of f32, in the order w, z, y, x."""
        k = self.k
        index, wide = self.live(f"{unit}_FLOATUNIFORM_INDEX.index"), self.live(f"{unit}_FLOATUNIFORM_INDEX.f32") != 0
        key = prefix.upper()
        complete, staging = self.stage(key, w, k.select(wide, 4, 3))
        self.put(f"STAGED_{key}", k.select(complete, 0, self.get(f"STAGED_{key}") + 1))
        for _ in k.when(complete):
            for _ in k.when(index < FLOAT_UNIFORMS):
                packed = [k.bits_i32(v) for v in self.unpack_f24(staging)]
                whole = [k.load(I32, staging + 4 * (3 - i)) for i in range(4)]
                values = [k.select(wide, a, b) for a, b in zip(whole, packed, strict=True)]

                def put(bank: str) -> None:
                    base = k.to_i64(index << 4) + self.layout.bank(bank)
                    for i, value in enumerate(values):
                        k.store(I32, base + 4 * i, value)
                    self.mark(bank)

                put(f"{prefix}_uniforms")
                for _ in k.when(self.shared() if prefix == "vs" else False):
                    put("gs_uniforms")
                for _ in k.when(self.shared() if prefix == "vs" else True):
                    uploads = self.get("GS_UPLOADS") + 1
                    self.put("GS_UPLOADS", uploads)
                    k.store(I32, k.to_i64(index << 2) + self.layout.bank("gs_uniform_marks"), uploads)
                    self.mark("gs_uniform_marks")
            self.count_on(f"{unit}_FLOATUNIFORM_INDEX.index", index)

    def fill(self, bank: str, index_field: str, w: Value) -> None:
        """Write one word to a memory whose index register increments; the index wraps inside the memory."""
        k = self.k
        index = self.live(index_field)
        place = k.to_i64((index & (words_of(bank) - 1)) << 2)
        k.store(I32, place + self.layout.bank(bank), w)
        self.mark(bank)
        if bank.startswith("vs_"):
            other = "gs_" + bank.removeprefix("vs_")
            for _ in k.when(self.shared()):
                k.store(I32, place + self.layout.bank(other), w)
                self.mark(other)
        self.count_on(index_field, index)

    def count_on(self, index_field: str, index: Value) -> None:
        """Increment the field of an index register from `index`; it wraps inside the field."""
        register, mask = field(index_field).register.offset, field(index_field).mask
        word = self.live.word(register)
        self.set_register(register, (word & ~mask) | ((index + 1) & mask))

    def table(self, bank: str, register: str, w: Value, place: Value) -> None:
        """Write one word to a look-up table; only the low byte of the index register increments."""
        k = self.k
        for _ in k.when(place >= 0):
            k.store(I32, k.to_i64(place << 2) + self.layout.bank(bank), w)
            self.mark(bank)
        word = self.live.word(register)
        self.set_register(register_id(register), (word & ~_LOW_BYTE) | ((word + 1) & _LOW_BYTE))

    def place(self, bank: str, register: str) -> Value:
        """The word of a table that an index register selects; it wraps inside the table."""
        return self.live.word(register) & (words_of(bank) - 1)

    def proctex_place(self) -> Value:
        k = self.k
        index, table = self.live("PROCTEX_LUT.index"), self.live("PROCTEX_LUT.table")
        place = k.i32(-1)
        for number, (first, entries) in PROCTEX_TABLES.items():
            place = k.select(table == number, (index & (entries - 1)) + first, place)
        return place

    def lighting_place(self) -> Value:
        index, table = self.live("LIGHTING_LUT_INDEX.index"), self.live("LIGHTING_LUT_INDEX.table")
        return self.k.select(table < LIGHT_TABLES, (table << field("LIGHTING_LUT_INDEX.index").width) | index, -1)

    # -- interrupt and jumps ------------------------------------------------------------------------------------
    def request(self, number: Value, w: Value) -> None:
        """P3D interrupt: an enabled byte of the request equals its compare byte. With autostop the list ends."""
        k, live = self.k, self.live
        rule = self.choices.get("list.end_match")
        if rule == "end-of-list":
            return
        stored = live.word(number)  # a masked byte counts with its old value (GBATEK, "P3D interrupt")
        compare = live.word(number + (register_id("IRQ_CMP0") - register_id("FINALIZE")))
        j = number - register_id("FINALIZE")
        masks = k.select(j < 8, live.word("IRQ_MASK_LOW"), live.word("IRQ_MASK_HIGH"))
        disabled = masks.lsr((j & 7) << 2)
        hit = k.const(False, BOOL)
        for i in range(4):
            same = ((stored ^ compare) & (0xFF << (8 * i))) == 0
            hit = hit | (same if rule == "any-byte" else same & ((disabled & (1 << i)) == 0))
        if rule in ("convention", "any-value"):
            hit = j == 0
        if rule == "convention":
            hit = hit & (w == FINALIZE_VALUE)
        for _ in k.when(hit):
            self.put("INTERRUPTS", self.get("INTERRUPTS") + 1)
            for _ in k.when((live.word("IRQ_AUTOSTOP") & field("IRQ_AUTOSTOP.enable").mask) != 0):
                self.status.value = STOPPED

    def jump(self, channel: int) -> None:
        """Fetching continues at ADDR for SIZE bytes (both multiples of 16); the rest of this list is dropped."""
        k, layout = self.k, self.layout
        address = self.live.bytes(f"CMDBUF_ADDR{channel}.address")
        size = self.live.bytes(f"CMDBUF_SIZE{channel}.size") & ~15
        found = k.var(-1)
        for i in range(4):
            base, length, offset = (k.load(I32, layout.regions + 12 * i + 4 * j) for j in range(3))
            inside = address - base
            for _ in k.when(inside.below(length) & ~((length - inside).below(size))):
                found.value = inside + offset
        jumps = self.get("JUMPS") + 1
        self.put("JUMPS", jumps)
        for _ in k.when(found.value < 0):
            self.put("FAULT", address)
            self.status.value = UNMAPPED_JUMP
        for _ in k.when(found.value >= 0):
            self.position.value = found.value & ~15
            self.end.value = (found.value & ~15) + size
            self.status.value = k.select(jumps > JUMP_BUDGET, BUDGET, JUMPED)

    # -- one write ----------------------------------------------------------------------------------------------
    def trigger(self, w: Value, choice: str) -> Value | bool:
        """Whether a word written to a trigger starts it; the choice is "any" or "non-zero"."""
        return w != 0 if choice in self.choices else True

    def draw(self, kind: int, w: Value) -> None:
        for _ in self.k.when(self.trigger(w, "draw.trigger_value")):
            self.record(kind)

    def start_jump(self, channel: int, w: Value) -> None:
        for _ in self.k.when(self.trigger(w, "list.jump_value")):
            self.jump(channel)

    def effect(self, code: Value, number: Value, w: Value, data: Value) -> None:
        """The effect of a write. w: the word in the list; data: the part of it that reaches a data port."""

        def restart() -> None:
            self.put("RESTART", 1)

        def fixed_index() -> None:
            self.put("STAGED_FIXED", 0)

        def staged(key: str) -> None:
            self.put(f"STAGED_{key}", 0)

        handlers = {
            "store": lambda: None,
            "ignore": lambda: None,
            "request": lambda: self.request(number, w),
            "arrays": lambda: self.draw(KIND_ARRAYS, w),
            "elements": lambda: self.draw(KIND_ELEMENTS, w),
            "fixed_index": fixed_index,
            "fixed_data": lambda: self.fixed_data(data),
            "jump0": lambda: self.start_jump(0, w),
            "jump1": lambda: self.start_jump(1, w),
            "restart": restart,
            "vs_uniform_index": lambda: staged("VS"),
            "vs_uniform_data": lambda: self.uniform("vs", "VSH", data),
            "vs_code": lambda: self.fill("vs_code", "VSH_CODETRANSFER_INDEX.index", data),
            "vs_opdescs": lambda: self.fill("vs_opdescs", "VSH_OPDESCS_INDEX.index", data),
            "vs_setup": lambda: self.set_up_vertices(number),
            "gs_bools": self.new_bools,
            "gs_uniform_index": lambda: staged("GS"),
            "gs_uniform_data": lambda: self.uniform("gs", "GSH", data),
            "gs_code": lambda: self.fill("gs_code", "GSH_CODETRANSFER_INDEX.index", data),
            "gs_opdescs": lambda: self.fill("gs_opdescs", "GSH_OPDESCS_INDEX.index", data),
            "fog": lambda: self.table("fog_lut", "FOG_LUT_INDEX", data, self.place("fog_lut", "FOG_LUT_INDEX")),
            "lighting": lambda: self.table("lighting_lut", "LIGHTING_LUT_INDEX", data, self.lighting_place()),
            "proctex": lambda: self.table("proctex_lut", "PROCTEX_LUT", data, self.proctex_place()),
            "gas": lambda: self.table("gas_lut", "GAS_LUT_INDEX", data, self.place("gas_lut", "GAS_LUT_INDEX")),
        }
        self.k.switch(code, [handlers[name] for name in EFFECT_NAMES])

    def write(self, number: Value, keep: Value, w: Value) -> None:
        """A register write under its byte mask, with its effect."""
        k, layout = self.k, self.layout
        code = k.load(U8, k.to_i64(number) + layout.effects)
        ignored = code == EFFECT_NAMES.index("ignore")
        for _ in k.when(ignored):
            self.put("IGNORED", self.get("IGNORED") + 1)
        for _ in k.when(~ignored):
            place = k.to_i64(number << 2) + layout.registers
            old = k.load(I32, place)
            k.store(I32, place, (old & keep) | (w & ~keep))
            # Any other write ends the run of immediate vertices that share one state.
            for _ in k.when(code != EFFECT_NAMES.index("fixed_data")):
                self.put("IMMEDIATE_OPEN", 0)
            for _ in k.when(code != EFFECT_NAMES.index("store")):
                self.effect(code, number, w, w & ~keep if "list.fifo_mask" in self.choices else w)


def kept_bits(header: Value) -> Value:
    """The bits that a write under an entry's byte mask leaves unchanged."""
    lanes = part(header, BYTE_MASK)
    return ~((lanes & 1) * 0xFF | (lanes & 2) * 0x7F80 | (lanes & 4) * 0x3FC000 | (lanes & 8) * 0x1FE00000)


@kernel()
def walk(k: Lang, *, layout_start: int, layout_size: int, choices: tuple[tuple[str, str], ...] = ()) -> None:
    """Walk from POSITION to END (arena offsets in the control block); ends with STATUS set and POSITION advanced.

    After FULL the walk resumes at the word that did not fit.
    """
    layout = WorkLayout(layout_start, layout_size)
    chosen = dict(choices)
    wraps = "list.high_ids" in chosen
    walk = Walk(k, layout, chosen)
    status, position, end = walk.status, walk.position, walk.end
    index = k.var(walk.get("ENTRY_INDEX"))
    words = k.var(walk.get("WORDS"))
    for _ in k.loop(lambda: status.value == RUNNING):
        start = position.value
        for _ in k.when(start + 8 > end.value):
            status.value = ENDED
        for _ in k.when(status.value == RUNNING):
            header = k.load(I32, k.to_i64(start) + 4)
            first, extra, step = part(header, ID), part(header, EXTRA), part(header, CONSECUTIVE)
            keep = kept_bits(header)
            after = start + 8 + ((extra + (extra & 1)) << 2)
            for _ in k.loop(lambda: (status.value == RUNNING) & (index.value <= extra)):
                i = index.value
                place = start + k.select(i == 0, 0, (i << 2) + 4)
                inside = place + 4 <= end.value
                for _ in k.when(inside):
                    number = first + i * step
                    # Ids outside the table use an entry of "ignore".
                    last = ID_SPACE - 1
                    number = number & last if wraps else k.select(number < ID_SPACE, number, last)
                    walk.write(number, keep, k.load(I32, k.to_i64(place)))
                for _ in k.when(~inside):
                    status.value = ENDED
                for _ in k.when(status.value != FULL):
                    index.value = i + 1
            words.value = words.value + index.value + 1
            for _ in k.when((status.value == RUNNING) | ((status.value == STOPPED) & (index.value > extra))):
                position.value = after
                index.value = 0
            for _ in k.when(status.value == JUMPED):
                status.value = RUNNING
                index.value = 0
            for _ in k.when((status.value == RUNNING) & (words.value > WORD_BUDGET)):
                status.value = BUDGET
    if chosen.get("list.end_match") == "end-of-list":
        for _ in k.when(status.value == ENDED):
            walk.put("INTERRUPTS", walk.get("INTERRUPTS") + 1)
    walk.put("POSITION", position.value)
    walk.put("END", end.value)
    walk.put("ENTRY_INDEX", index.value)
    walk.put("WORDS", words.value)
    walk.put("STATUS", status.value)


__all__ = ["BUDGET", "EFFECT_TABLE", "ENDED", "FULL", "JUMP_BUDGET", "RUNNING", "STOPPED", "UNMAPPED_JUMP",
           "WORD_BUDGET", "Walk", "kept_bits", "walk"]  # fmt: skip
