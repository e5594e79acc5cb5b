"""The channel's parser, compiled: words of a pushbuffer become register writes, uploads, and runs of macros.

It returns to Python when its pushbuffer ends, when a method has an effect in Python, or when there is something to
report. All its state is in the channel's state words, so a packet may begin in one segment and end in another, and a
macro may wait for parameters that come with a later submission.

Source: NVIDIA's headers for GPFIFO and class B06F (forms of words); recorded drivers and simulators for the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HEADER, HOST_WORDS, TERTIARY
from pocketgpu.lanes import I32, I64, U8, Lang, Value, Var, kernel
from pocketgpu.maxwell.host import constants
from pocketgpu.maxwell.host.dispatch import CODES
from pocketgpu.maxwell.host.layout import (
    CHANNEL,
    CHANNEL_LAYOUT,
    COUNTER,
    FILE_SIZE,
    FRONT_END_FILES,
    HOST_FILE,
    MACRO_WORDS,
    MACROS,
    MAX_DEFERRED,
    RUN,
    STAGING_SIZE,
    WorkLayout,
)
from pocketgpu.maxwell.host.stops import (
    DEFERRED_FULL,
    DRAW,
    EFFECT,
    ENDED,
    MACRO_BUDGET,
    ODD,
    ODD_STOP,
    RUNNING,
    STAGE_FULL,
    STAGED,
    UNKNOWN,
)
from pocketgpu.maxwell.mme import interpreter
from pocketgpu.maxwell.mme.states import BUSY, IDLE, WAITING

_WORD = lambda name: B197[name].word
SCRATCH = _WORD("SET_MME_SHADOW_SCRATCH")
"""The first of the macros' scratch words, where firmware writes its acknowledgement."""
FALCONS = range(_WORD("SET_FALCON00"), _WORD("SET_FALCON31") + 1)
"""Calls of the front end's firmware."""
LINE_LENGTH, LINE_COUNT = _WORD("LINE_LENGTH_IN"), _WORD("LINE_COUNT")
_SHADOW_MODE = B197["SET_MME_SHADOW_RAM_CONTROL"]["MODE"]
SHADOW_MODES = _SHADOW_MODE.values
"""Modes of the shadow RAM. The two below METHOD_PASSTHROUGH store what is written."""


def header(word: Value, name: str) -> Value:
    """A field of a method header."""
    field = HEADER[name]
    return word.bits(field.lo, field.width)


class ChannelState:
    """The state words, counters and arrays of one channel, as a kernel reads them."""

    def __init__(self, k: Lang, base: Value) -> None:
        self.k, self.base = k, base

    def at(self, name: str, index: int = 0) -> Value:
        return self.base + (CHANNEL_LAYOUT.state + int(getattr(CHANNEL, name)) + 4 * index)

    def get(self, name: str, index: int = 0) -> Value:
        return self.k.load(I32, self.at(name, index))

    def put(self, name: str, value: Value | int, index: int = 0) -> None:
        self.k.store(I32, self.at(name, index), value)

    def count(self, name: str, by: Value | int = 1) -> None:
        at = self.base + (CHANNEL_LAYOUT.counters + COUNTER[name])
        self.add(at, by)

    def add(self, at: Value, by: Value | int) -> None:
        k = self.k
        k.store(I64, at, k.load(I64, at) + (k.to_i64(by) if isinstance(by, Value) else by))


class _MethodWrite:
    """A method write, and what its code (`dispatch.CODES`) does."""

    def __init__(self, parser: Parser, file: Value, word: Value, value: Value, from_macro: bool) -> None:
        self.k, self.state, self.parser = parser.k, parser.state, parser
        self.file, self.word, self.value, self.from_macro = file, word, value, from_macro
        self.place = parser.place(file, word)
        self.shadow = self.place + (CHANNEL_LAYOUT.shadows - CHANNEL_LAYOUT.registers)

    def cases(self) -> dict[str, Callable[[], None]]:
        """The actions by name of the code."""
        parser, file, word, value = self.parser, self.file, self.word, self.value
        return {
            "plain": self.plain,
            "tracked": self.tracked,
            "effect": self.effect,
            "deferred": self.deferred,
            "draw": lambda: self.effect(DRAW),
            "unknown": self.unknown,
            "known_unknown": self.known_unknown,
            "ignored": lambda: self.state.count("ignored_methods"),
            "mme_pointer": lambda: self.pointer("MME_POINTER"),
            "mme_load": lambda: self.load(
                "MME_POINTER", CHANNEL_LAYOUT.mme_code, parser.ram_words, "mme_instruction_words", self.code_loaded
            ),
            "mme_start_pointer": lambda: self.pointer("MME_START_POINTER"),
            "mme_start_load": lambda: self.load(
                "MME_START_POINTER", CHANNEL_LAYOUT.mme_starts, MACROS, "mme_macros_loaded", self.start_loaded
            ),
            "shadow_control": self.shadow_control,
            "falcon": self.falcon,
            "constant": lambda: parser.constant(file, value),
            "bind": self.bind,
            "inline_launch": lambda: parser.launch_inline(file, word, value),
            "inline_data": lambda: parser.inline_data(file, word, value, self.from_macro),
            "macro": self.macro,
        }

    def plain(self) -> None:
        self.k.store(I32, self.place, self.value)

    def tracked(self) -> None:
        k, value = self.k, self.value
        mode, kept = self.parser.shadow_mode.value, k.load(I32, self.shadow)
        k.store(I32, self.place, k.select(mode == SHADOW_MODES.METHOD_REPLAY, kept, value))
        k.store(I32, self.shadow, k.select(mode < SHADOW_MODES.METHOD_PASSTHROUGH, value, kept))

    def both(self) -> None:
        """Store in the register, and in the shadow RAM unless its mode passes methods through."""
        self.plain()
        for _ in self.k.when(self.parser.shadow_mode.value < SHADOW_MODES.METHOD_PASSTHROUGH):
            self.k.store(I32, self.shadow, self.value)

    def stop(self, status: int) -> None:
        self.parser.stop(status, self.file, self.word, self.value)

    def effect(self, status: int = EFFECT) -> None:
        self.both()
        self.stop(status)

    def deferred(self) -> None:
        k, state = self.k, self.state
        urgent = state.get("URGENT") != 0
        count = state.get("DEFERRED")
        for _ in k.when(urgent):
            self.effect()
        for _ in k.when(~urgent):
            self.both()
            at = state.at("DEFERRED_METHODS") + k.to_i64(count * 12)
            for n, v in enumerate((self.file, self.word, self.value)):
                k.store(I32, at + 4 * n, v)
            state.put("DEFERRED", count + 1)
            for _ in k.when(count == MAX_DEFERRED - 1):
                self.stop(DEFERRED_FULL)

    def known_unknown(self) -> None:
        self.tracked()
        self.state.count("unknown_methods")

    def unknown(self) -> None:
        self.known_unknown()
        self.stop(UNKNOWN)

    def pointer(self, name: str) -> None:
        self.plain()
        self.state.put(name, self.value)

    def code_loaded(self, at: Value) -> None:
        self.state.put("MME_TOP", self.k.max(at + 1, self.state.get("MME_TOP")))

    def start_loaded(self, at: Value) -> None:
        k = self.k
        k.store(I32, k.to_i64(at << 2) + (self.parser.base + CHANNEL_LAYOUT.mme_known), 1)

    def load(self, name: str, target: int, words: int, counter: str, note: Callable[[Value], None]) -> None:
        """A word for a memory of the macro engine, at a pointer that advances."""
        k, state = self.k, self.state
        self.plain()
        at = state.get(name)
        inside = at.below(words)
        for _ in k.when(inside):
            k.store(I32, k.to_i64(at << 2) + (self.parser.base + target), self.value)
            note(at)
        for _ in k.when(~inside):
            self.parser.odd("ram_overflow")
        state.put(name, at + 1)
        state.count(counter)

    def shadow_control(self) -> None:
        self.plain()
        self.parser.shadow_mode.value = self.value.bits(_SHADOW_MODE.lo, _SHADOW_MODE.width)

    def falcon(self) -> None:
        # Firmware acknowledges in the first scratch word, which macros wait for.
        self.plain()
        scratch = self.parser.place(self.file, SCRATCH)
        for at in (scratch, scratch + (CHANNEL_LAYOUT.shadows - CHANNEL_LAYOUT.registers)):
            self.k.store(I32, at, 1)
        self.state.count("falcon_register_writes")

    def bind(self) -> None:
        """Bind the selected constant buffer to a slot of a group, or nothing."""
        self.both()
        self.parser.bind_constants(self.file, self.word, self.value)

    def macro(self) -> None:
        if not self.from_macro:
            self.plain()
            self.parser.call(self.file, self.word, self.value)


class Parser:
    """The parts of the walk. `inspect.decode` derives a class from it that logs each method."""

    def __init__(
        self, k: Lang, layout: WorkLayout, channel: Value, ram_words: int, choices: frozenset[str],
        inline_places: int = 0,
    ) -> None:  # fmt: skip
        self.k, self.layout = k, layout
        self.channel, self.inline_places = channel, inline_places
        self.position: Value | None = None
        """Arena offset of the current word, -1 if it is in a header; None unless places are recorded."""
        self.ram_words, self.choices = ram_words, choices
        base = k.to_i64(channel) * CHANNEL_LAYOUT.size + layout.channels
        self.state = ChannelState(k, base)
        self.base = base
        self.status = k.var(RUNNING)
        self.shadow_mode = k.var(self.state.get("SHADOW_MODE"))
        self.engine = k.var(self.state.get("MME_STATE"))

    # -- stops for Python -------------------------------------------------------------------------------------------
    def stop(self, status: int, file: Value, word: Value, value: Value) -> None:
        self.status.value = status
        self.state.put("EFFECT_FILE", file)
        self.state.put("EFFECT_WORD", word)
        self.state.put("EFFECT_VALUE", value)

    def odd(self, what: str) -> None:
        """An error that hardware would report: stop if it is the first of its kind in this submission."""
        k, state, bit = self.k, self.state, ODD[what]
        for _ in k.when((state.get("ODD_SEEN") & bit) == 0):
            state.put("ODD", state.get("ODD") | bit)
            for _ in k.when(self.status.value == RUNNING):
                self.status.value = ODD_STOP

    # -- methods ----------------------------------------------------------------------------------------------------
    def place(self, file: Value, word: Value | int) -> Value:
        """Offset of a register of a file."""
        at = word << 2 if isinstance(word, Value) else 4 * word
        return self.k.to_i64(file * FILE_SIZE + at) + self.base + CHANNEL_LAYOUT.registers

    def method(self, file: Value, word: Value, value: Value, from_macro: bool) -> None:
        """One method, with everything that it triggers."""
        k = self.k
        write = _MethodWrite(self, file, word, value, from_macro)
        code = k.load(U8, k.to_i64(file * (FILE_SIZE // 4) + word) + self.layout.effects)
        cases = write.cases()
        k.switch(code, [cases[name] for name in CODES])

    def draw(self, save: Callable[[], None]) -> None:
        """A method that draws: as a quick draw, or in Python. `save`: store the parser's variables in its state
        words."""
        k, state = self.k, self.state
        record = state.get("QUICK")
        self.status.value = EFFECT
        for _ in k.when(record != 0):
            save()
            state.put("MME_STATE", self.engine.value)
            k.invoke(k.load(I64, state.at("QUICK_CALL")), record, k.low32(self.base))
            self.status.value = state.get("QUICK_RESULT")

    def bind_constants(self, file: Value, word: Value, value: Value) -> None:
        constants.bind(self, file, word, value)

    def constant(self, file: Value, value: Value) -> None:
        constants.store(self, file, value)

    # -- inline data ------------------------------------------------------------------------------------------------
    def inline_left(self, file: Value) -> Value:
        return k_place(self.k, self.state.at("INLINE_LEFT"), file, 8)

    def launch_inline(self, file: Value, word: Value, value: Value) -> None:
        """Start of inline data: each line is padded to whole words."""
        k = self.k
        k.store(I32, self.place(file, word), value)
        words = (k.load(I32, self.place(file, LINE_LENGTH)) + 3).lsr(2)
        # A length within 3 of 2^32 becomes 0 words, which loses nothing.
        total = k.to_i64(words, signed=False) * k.to_i64(k.load(I32, self.place(file, LINE_COUNT)), signed=False)
        k.store(I64, self.inline_left(file), total)
        self.state.count("inline_launches")
        for name in ("INLINE_STAGED", "INLINE_TAKEN"):
            k.store(I32, k_place(k, self.state.at(name), file, 4), 0)
        for _ in k.when(total == 0):
            self.stop(STAGED, file, word, value)

    def inline_data(self, file: Value, word: Value, value: Value, from_macro: bool) -> None:
        k = self.k
        left_at, staged_at = self.inline_left(file), k_place(k, self.state.at("INLINE_STAGED"), file, 4)
        left, staged = k.load(I64, left_at), k.load(I32, staged_at)
        for _ in k.when(left == 0):
            self.odd("inline_data")
        for _ in k.when(left != 0):
            staging = k_place(k, self.base + CHANNEL_LAYOUT.staging, file, STAGING_SIZE)
            k.store(I32, k.to_i64(staged << 2) + staging, value)
            if self.inline_places:
                whose = self.channel * FRONT_END_FILES + file
                places = k.to_i64(whose) * STAGING_SIZE + self.inline_places
                came_from = -1 if from_macro or self.position is None else self.position
                k.store(I32, k.to_i64(staged << 2) + places, came_from)
            k.store(I32, staged_at, staged + 1)
            k.store(I64, left_at, left - 1)
            self.state.count("inline_upload_words")
            for _ in k.when(left == 1):
                self.stop(STAGED, file, word, value)
            for _ in k.when((left != 1) & (staged == STAGING_SIZE // 4 - 1)):
                self.stop(STAGE_FULL, file, word, value)

    # -- macros -----------------------------------------------------------------------------------------------------
    def call(self, file: Value, word: Value, value: Value) -> None:
        """Start a macro, or give the waiting one its next parameter."""
        k, state = self.k, self.state
        macro = (word - MACRO_WORDS).lsr(1) & (MACROS - 1)
        data = (word & 1) != 0
        for _ in k.when(~data):
            address = k.load(I32, k.to_i64(macro << 2) + (self.base + CHANNEL_LAYOUT.mme_starts))
            interpreter.start(state, macro, file, address, value)
            self.engine.value = BUSY
            state.count("macro_calls")
            state.add(k.to_i64(macro << 3) + (self.base + CHANNEL_LAYOUT.macro_counts), 1)
        for _ in k.when(data):
            wanted = self.awaits(file, word)
            for _ in k.when(wanted):
                state.put("MME_PARAMETER", value)
                state.put("MME_FULL", 1)
                self.engine.value = BUSY
            for _ in k.when(~wanted):
                self.odd("leftover_parameter")

    def awaits(self, file: Value, word: Value) -> Value:
        """Whether this method is the parameter that a macro waits for."""
        own = (self.state.get("MME_MACRO") << 1) + (MACRO_WORDS + 1)
        return (self.engine.value == WAITING) & (word == own) & (file == self.state.get("MME_FILE"))

    def run_macro(self) -> None:
        """Let the macro engine continue, and count what it does."""
        k, state = self.k, self.state
        file = state.get("MME_FILE")
        bank = CHANNEL_LAYOUT.shadows - CHANNEL_LAYOUT.registers if "mme.reads" in self.choices else 0

        def read(word: Value) -> Value:
            return k.load(I32, self.place(file, word) + bank)

        def send(word: Value, value: Value) -> None:
            for _ in k.when(word < HOST_WORDS):
                self.odd("macro_method")
            for _ in k.when(word >= MACRO_WORDS):
                self.odd("macro_call")
            for _ in k.when((word >= HOST_WORDS) & (word < MACRO_WORDS)):
                self.method(file, word, value, from_macro=True)

        code = self.base + CHANNEL_LAYOUT.mme_code
        steps = state.get("MME_RUN_STEPS")
        wide = "mme.wide_shift" in self.choices
        engine = interpreter.MacroEngine(k, state, code, self.ram_words - 1, read, send, self.odd, wide)
        engine.run(self.engine, lambda: self.status.value == RUNNING)
        taken = state.get("MME_RUN_STEPS")
        state.count("macro_steps", taken - steps)
        longest = state.base + (CHANNEL_LAYOUT.counters + COUNTER["longest_macro"])
        k.store(I64, longest, k.max(k.load(I64, longest), k.to_i64(taken)))
        for _ in k.when((state.get("MME_BUDGET") == 0) & (self.engine.value == BUSY)):
            self.engine.value = IDLE
            for _ in k.when(self.status.value == RUNNING):
                self.status.value = MACRO_BUDGET


def k_place(k: Lang, start: Value, file: Value, size: int) -> Value:
    """Offset of a front-end class's element in an array with one for each; the first for other files."""
    return start + k.to_i64(k.select(file.below(FRONT_END_FILES), file, 0) * size)


class Packet:
    """The current packet, in variables while the parser runs."""

    _HELD = ("METHOD", "STEP", "LATER_STEP", "REMAINING", "SUBCHANNEL", "IMMEDIATE", "POSITION", "END", "RUN", "ENTRY")

    def __init__(self, k: Lang, state: ChannelState, illegal_ends: bool) -> None:
        self.k, self.state, self.illegal_ends = k, state, illegal_ends
        self.vars: dict[str, Var] = {name: k.var(state.get(name)) for name in self._HELD}
        self.file = k.var(k.i32(0))
        self.find_file()

    def __getitem__(self, name: str) -> Value:
        return self.vars[name].value

    def __setitem__(self, name: str, value: Value | int) -> None:
        self.vars[name].value = value

    def find_file(self) -> None:
        """Find the register file that the current subchannel is bound to."""
        k = self.k
        at = self.state.at("BINDINGS") + k.to_i64(self["SUBCHANNEL"] << 2)
        self.file.value = k.load(I32, at)

    def save(self) -> None:
        for name in self._HELD:
            self.state.put(name, self[name])

    def begin(self, word: Value, odd: Callable[[str], None]) -> None:
        """Decode a header."""
        k, state = self.k, self.state
        form = header(word, "SEC_OP")
        at = k.to_i64(form << 3) + (state.base + (CHANNEL_LAYOUT.counters + COUNTER["header_0"]))
        zero = word == 0
        state.add(at, k.select(zero, 0, 1))
        state.count("nop_words", k.select(zero, 1, 0))
        state.put("HEADER", word)
        count, kind = header(word, "COUNT"), header(word, "TERT_OP")
        legacy = (form == FORMS.GRP0_USE_TERT) | (form == FORMS.GRP2_USE_TERT)
        self["SUBCHANNEL"] = header(word, "SUBCHANNEL")
        self.find_file()
        self["METHOD"] = k.select(legacy, header(word, "ADDRESS_OLD"), header(word, "ADDRESS"))
        self["IMMEDIATE"] = k.select(form == FORMS.IMMD_DATA_METHOD, 1, 0)
        for _ in k.when(form == FORMS.IMMD_DATA_METHOD):
            state.put("IMMEDIATE_VALUE", header(word, "IMMD_DATA"))
        increasing = (form == FORMS.INC_METHOD) | (form == FORMS.GRP0_USE_TERT)
        self["STEP"] = k.select(increasing | (form == FORMS.ONE_INC), 1, 0)
        self["LATER_STEP"] = k.select(increasing, 1, 0)
        # Legacy words of other kinds set masks of sub-devices, of which there is one: no data follows them.
        old = k.select(kind == TERTIARY.INC_METHOD, header(word, "COUNT_OLD"), 0)
        some = k.select(legacy, old, k.select(form == FORMS.IMMD_DATA_METHOD, 1, count))
        self["REMAINING"] = k.select((form == FORMS.RESERVED6) | (form == FORMS.END_PB_SEGMENT), 0, some)
        for _ in k.when((form == FORMS.RESERVED6) | ((form == FORMS.GRP2_USE_TERT) & (kind != TERTIARY.INC_METHOD))):
            odd("header")
            for _ in k.when(self.illegal_ends):
                self.end_segment()
        for _ in k.when(form == FORMS.END_PB_SEGMENT):
            state.count("segments_ended")
            self.end_segment()

    def end_segment(self) -> None:
        """Skip the rest of this GPFIFO entry."""
        k, entry = self.k, self["ENTRY"]
        self["POSITION"] = self["END"]
        more = k.var(True)
        for _ in k.loop(lambda: more.value):
            following = self["RUN"] + 1
            same = k.var(following < self.state.get("RUNS"))
            for _ in k.when(same.value):
                same.value = k.load(I32, self._run(following) + RUN.ENTRY) == entry
            for _ in k.when(same.value):
                self["RUN"] = following
            more.value = same.value

    def _run(self, index: Value) -> Value:
        return self.k.to_i64(index * RUN.size) + (self.state.base + CHANNEL_LAYOUT.runs)

    def next_run(self) -> Value:
        """Go to the next piece of pushbuffer. Returns whether there is one."""
        k, state = self.k, self.state
        following = self["RUN"] + 1
        there = following < state.get("RUNS")
        for _ in k.when(there):
            run = self._run(following)
            start, words = k.load(I32, run + RUN.OFFSET), k.load(I32, run + RUN.WORDS)
            self["RUN"] = following
            self["ENTRY"] = k.load(I32, run + RUN.ENTRY)
            self["POSITION"] = start
            self["END"] = start + (words << 2)
            state.count("words", words)
        return there


@kernel(1, channel=I32)
def parse(
    k: Lang, channel: Value, *, start: int, ram_words: int, choices: tuple[str, ...] = (), inline_places: int = 0
) -> None:
    """Continue a channel's pushbuffer from its state words; sets STATUS at the end.

    `start`: the work area. ram_words: instruction RAM of the macro engine, a power of 2. choices: those of
    `PARSE_CHOICES` that do not have their default. inline_places: arena offset of an area for the place of each word of
    inline data (`layout.inline_places`); 0: not recorded.
    """
    chosen = frozenset(choices)
    walk = Parser(k, WorkLayout(start), channel, ram_words, chosen, inline_places)
    packet = Packet(k, walk.state, "channel.illegal_header" in chosen)
    go_on(k, walk, packet)


def go_on(k: Lang, walk: Parser, packet: Packet) -> None:
    """Parse until `walk.status` is no longer RUNNING."""
    state, status, engine = walk.state, walk.status, walk.engine
    immediate = walk.base + CHANNEL_LAYOUT.immediate
    for _ in k.loop(lambda: status.value == RUNNING):
        for _ in k.when(engine.value == BUSY):
            walk.run_macro()
        for _ in k.when((status.value == RUNNING) & (engine.value != BUSY)):
            _data(k, walk, packet, immediate)
            ready = (status.value == RUNNING) & (engine.value != BUSY) & (packet["REMAINING"] == 0)
            for _ in k.when(ready & (packet["POSITION"] < packet["END"])):
                position = packet["POSITION"]
                packet["POSITION"] = position + 4
                packet.begin(k.load(I32, k.to_i64(position)), walk.odd)
            needed = (packet["REMAINING"] == 0) | (packet["IMMEDIATE"] == 0)
            going = (status.value == RUNNING) & (engine.value != BUSY)
            for _ in k.when(going & needed & (packet["POSITION"] >= packet["END"])):
                for _ in k.when(~packet.next_run()):
                    status.value = ENDED
        for _ in k.when(status.value == DRAW):
            walk.draw(packet.save)
    packet.save()
    state.put("SHADOW_MODE", walk.shadow_mode.value)
    state.put("MME_STATE", engine.value)
    state.put("STATUS", status.value)


def _data(k: Lang, walk: Parser, packet: Packet, immediate: Value) -> None:
    """Data words of the current packet, as many as there are, until something interrupts."""
    state, engine = walk.state, walk.engine
    is_immediate = packet["IMMEDIATE"] != 0
    here = (packet["END"] - packet["POSITION"]).lsr(2)
    words = k.select(is_immediate, packet["REMAINING"], k.min(here, packet["REMAINING"]))
    left, hosts = k.var(words), k.var(0)
    for _ in k.loop(lambda: (left.value > 0) & (walk.status.value == RUNNING) & (engine.value != BUSY)):
        word = packet["METHOD"]
        host = word < HOST_WORDS
        file = k.select(host, HOST_FILE, packet.file.value)
        # A waiting macro gets no more parameters once the front end reads any other method.
        disturbed = (engine.value == WAITING) & (file < FRONT_END_FILES) & ~walk.awaits(file, word)
        for _ in k.when(disturbed):
            state.put("MME_DRY", 1)
            engine.value = BUSY
        for _ in k.when(~disturbed):
            position = packet["POSITION"]
            value = k.load(I32, k.select(is_immediate, immediate, k.to_i64(position)))
            packet["POSITION"] = k.select(is_immediate, position, position + 4)
            left.value = left.value - 1
            # Binding is the one host method that belongs to its subchannel, and is counted there.
            hosts.value = hosts.value + k.select(host & (word != 0), 1, 0)
            packet["METHOD"] = (word + packet["STEP"]) & HEADER["ADDRESS"].mask
            packet["STEP"] = packet["LATER_STEP"]
            if walk.inline_places:
                walk.position = k.select(is_immediate, -1, position)
            walk.method(file, word, value, from_macro=False)
    done = words - left.value
    packet["REMAINING"] = packet["REMAINING"] - done
    state.count("methods", done)
    state.count("host_methods", hosts.value)
    at = k.to_i64(packet["SUBCHANNEL"] << 3) + (walk.base + (CHANNEL_LAYOUT.counters + COUNTER["subchannel_0"]))
    state.add(at, done - hosts.value)
