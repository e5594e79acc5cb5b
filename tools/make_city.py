"""Makes a recording of the Switch's GPU for tests: a city at night, and its reflection in the water.

    python tools/make_city.py [FILE]

No triangle is drawn: the sky is a macro that clears row by row, stars and windows are macros that make their own random
numbers, the moon is uploaded as inline data and copied by the copy engine, and the water is a blit that turns the city
upside down. Everything is computed here; the same input gives the same recording.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of  # noqa: E402
from pocketgpu.maxwell.mme.assembler import assemble  # noqa: E402

WIDTH, HEIGHT = 640, 360
HORIZON = 232
FRAMES = 4
BAND = 4
"""Rows of one step of the sky."""
MOON = 64
MOON_TOP = 28
DRAW, COPY = 0, 1
"""Channels: one draws, the other brings textures."""
Array = NDArray[Any]

ALL_CHANNELS = 0x3C
"""CLEAR_SURFACE: red, green, blue and alpha of target 0."""

SKY = f"""
    ; r1 = first row; parameters: rows of a band, bands, then red, green and blue of each
    parm r2
    parm r3
next:
    mov r4, add(r1, r2)
    maddr @SET_COLOR_CLEAR_VALUE:1
    parm r5
    send r5
    parm r5
    send r5
    parm r5
    send r5
    maddr @SET_SCISSOR_VERTICAL
    send insert(r1, r4, 0, 16, 16)
    maddr @CLEAR_SURFACE
    send {ALL_CHANNELS:#x}
    mov r3, r3 - 1
    bnz r3, next
    mov r1, r4
    exit
    nop
"""

RANDOM = """
    mov r7, extract(r1, 0, 19, 13)      ; xorshift
    mov r1, xor(r1, r7)
    mov r7, extract(r1, 17, 15)
    mov r1, xor(r1, r7)
    mov r7, extract(r1, 0, 27, 5)
    mov r1, xor(r1, r7)
"""

STARS = f"""
    ; r1 = seed; parameter: how many
    parm r2
next:
    {RANDOM}
    mov r3, extract(r1, 3, 10)
    mov r4, r3 + 1
    maddr @SET_SCISSOR_HORIZONTAL:1
    send insert(r3, r4, 0, 16, 16)
    mov r3, extract(r1, 17, 8)
    mov r4, r3 + 1
    send insert(r3, r4, 0, 16, 16)
    maddr @CLEAR_SURFACE
    send {ALL_CHANNELS:#x}
    mov r2, r2 - 1
    bnz r2, next
    nop
    exit
    nop
"""

WINDOWS = f"""
    ; r1 = seed; parameters: left, top, rows; the columns are in scratch word 0
    parm r2
    parm r3
    parm r4
row:
    mov r5, r3 + 4
    maddr @SET_SCISSOR_VERTICAL
    send insert(r3, r5, 0, 16, 16)
    mov r5, read(@SET_MME_SHADOW_SCRATCH)
    mov r6, r2
column:
    {RANDOM}
    mov r7, extract(r1, 7, 2)
    bz annul r7, dark
    mov r7, r6 + 3
    maddr @SET_SCISSOR_HORIZONTAL
    send insert(r6, r7, 0, 16, 16)
    maddr @CLEAR_SURFACE
    send {ALL_CHANNELS:#x}
dark:
    mov r5, r5 - 1
    bnz r5, column
    mov r6, r6 + 6
    mov r4, r4 - 1
    bnz r4, row
    mov r3, r3 + 8
    exit
    nop
"""

MACROS = {0: assemble(SKY), 1: assemble(STARS), 2: assemble(WINDOWS)}

LETTERS = {
    "P": "1111 1001 1001 1111 1000 1000 1000", "O": "0110 1001 1001 1001 1001 1001 0110",
    "C": "0111 1000 1000 1000 1000 1000 0111", "K": "1001 1010 1100 1100 1010 1001 1001",
    "E": "1111 1000 1000 1110 1000 1000 1111", "T": "1111 0110 0110 0110 0110 0110 0110",
    "G": "0111 1000 1000 1011 1001 1001 0111", "U": "1001 1001 1001 1001 1001 1001 0110",
}  # fmt: skip


def sky_colors() -> Array:
    """Red, green and blue of each band down to the horizon, 0..1."""
    t = np.linspace(0, 1, HORIZON // BAND)[:, None]
    top, middle, low = (np.array(c) for c in ((0.02, 0.03, 0.10), (0.13, 0.12, 0.30), (0.62, 0.33, 0.30)))
    return np.asarray(np.where(t < 0.6, top + (middle - top) * t / 0.6, middle + (low - middle) * (t - 0.6) / 0.4))


def moon() -> Array:
    """RGBA, with the sky of its rows as the background."""
    bands = sky_colors()[(MOON_TOP + np.arange(MOON)) // BAND]
    y, x = (np.mgrid[:MOON, :MOON] - (MOON - 1) / 2) / (MOON / 2 - 2)
    distance = np.hypot(x, y)
    shade = 0.93 - 0.10 * x - 0.08 * y
    for cx, cy, radius, depth in ((-0.3, -0.2, 0.28, 0.16), (0.35, 0.25, 0.2, 0.12), (-0.1, 0.5, 0.15, 0.1)):
        shade = shade - depth * np.clip((radius - np.hypot(x - cx, y - cy)) * 8, 0, 1)
    cover = np.clip((1 - distance) * (MOON / 2 - 2), 0, 1)[..., None]
    # The glow ends inside the square.
    glow = 0.3 * np.clip(1 - (distance - 1) / 0.06, 0, 1)[..., None] ** 2
    light = np.array([1.0, 0.96, 0.85])
    color = bands[:, None] * np.ones((1, MOON, 1)) + glow * light * 0.5
    color = color * (1 - cover) + shade[..., None] * light * cover
    return pixels(color)


def pixels(color: Array) -> Array:
    """RGBA bytes of colours in 0..1."""
    rgba = np.ones((*color.shape[:2], 4))
    rgba[..., :3] = color
    return np.round(np.clip(rgba, 0, 1) * 255).astype(np.uint8)


def sign() -> Array:
    """The name in lights, as blue, green, red, alpha."""
    rows = [" ".join(LETTERS[letter].split()[row] for letter in "POCKETGPU") for row in range(7)]
    bits = np.pad(np.array([[character == "1" for character in row] for row in rows]), 2)
    color = np.where(bits[..., None], (0.35, 0.95, 0.85), (0.05, 0.05, 0.09))
    return np.ascontiguousarray(pixels(color)[..., [2, 1, 0, 3]])


def tram() -> Array:
    """A tram from the side."""
    body = np.full((10, 34, 3), (0.75, 0.16, 0.14))
    body[2:5, 2:32] = 0.98, 0.85, 0.5
    body[2:5, 5:32:5] = 0.35, 0.08, 0.08
    body[8:] = 0.08, 0.08, 0.1
    body[9, [5, 6, 27, 28]] = 0.3, 0.3, 0.3
    return pixels(body)


class City:
    """The recording in the making."""

    def __init__(self) -> None:
        self.capture = capture = MaxwellCaptureBuilder("pocketgpu: a city at night")
        images = capture.allocate(2 * size_of(WIDTH, HEIGHT), kind="pitch")
        images = capture.alias(images, kind="generic_16bx2")
        self.targets = [Surface(images + i * size_of(WIDTH, HEIGHT), WIDTH, HEIGHT) for i in range(2)]
        self.semaphores = capture.allocate(4096)
        self.rows = Surface(capture.allocate(MOON * MOON * 4), MOON, MOON, pitch=MOON * 4)
        self.moon = Surface(capture.allocate(size_of(MOON, MOON, block_height_log2=2)), MOON, MOON, "A8B8G8R8", None, 2)
        letters = sign()
        self.letters = Surface(capture.put(letters), letters.shape[1], letters.shape[0], pitch=letters.shape[1] * 4)
        self.sign = Surface(
            capture.allocate(size_of(self.letters.width, self.letters.height, block_height_log2=1)),
            self.letters.width, self.letters.height, "A8B8G8R8", None, 1,
        )  # fmt: skip
        cars = tram()
        self.tram = Surface(capture.allocate(size_of(34, 10, block_height_log2=0)), 34, 10, "A8B8G8R8", None, 0)
        self.cars = cars

    def set_up(self) -> PushBuffer:
        """What the drawing channel needs once."""
        pb = PushBuffer()
        for name in ("3D", "compute", "inline-to-memory", "2D", "DMA copy"):
            pb.bind(name)
        pb.on("3D")
        at = 0
        for number, code in MACROS.items():
            pb.upload_macro(number, code, at)
            at += len(code)
        return pb.method("SET_CLEAR_SURFACE_CONTROL", USE_SCISSOR0=True)

    def textures(self) -> PushBuffer:
        """Bring the textures, on the copying channel: inline data, a copy to blocks, a change of components."""
        pb = PushBuffer().bind("inline-to-memory").inline(self.rows.address, moon())
        pb.inline_rectangle(self.tram, 0, 0, self.cars)
        pb.bind("DMA copy").copy_rectangle(self.rows, self.moon)
        # Blue first becomes red first: lengths count pixels now.
        components = {"DST_X": "SRC_Z", "DST_Y": "SRC_Y", "DST_Z": "SRC_X", "DST_W": "SRC_W"}
        pb.method(
            "SET_REMAP_COMPONENTS",
            COMPONENT_SIZE="ONE", NUM_SRC_COMPONENTS="FOUR", NUM_DST_COMPONENTS="FOUR", **components,
        )  # fmt: skip
        pb.address("OFFSET_IN_UPPER", self.letters.address).address("OFFSET_OUT_UPPER", self.sign.address)
        pb.method("PITCH_IN", self.letters.pitch or 0)
        pb.method("SET_DST_BLOCK_SIZE", HEIGHT=1, GOB_HEIGHT="GOB_HEIGHT_FERMI_8")
        pb.method("SET_DST_WIDTH", self.sign.width, self.sign.height, 1, 0).method("SET_DST_ORIGIN", X=0, Y=0)
        pb.method("LINE_LENGTH_IN", self.letters.width, self.letters.height)
        pb.method(
            "LAUNCH_DMA", DATA_TRANSFER_TYPE="NON_PIPELINED", FLUSH_ENABLE=True, SRC_MEMORY_LAYOUT="PITCH",
            DST_MEMORY_LAYOUT="BLOCKLINEAR", MULTI_LINE_ENABLE=True, REMAP_ENABLE=True,
        )  # fmt: skip
        return pb.semaphore_release(self.semaphores, 1)

    def buildings(self) -> list[tuple[int, int, int, float]]:
        """Left, width, top and brightness, back ones first."""
        random = np.random.default_rng(11)
        found = []
        for low, high, tall, light in ((26, 46, 120, 0.13), (34, 60, 84, 0.07)):
            left = -10
            while left < WIDTH:
                width = int(random.integers(low, high)) // 6 * 6 + 3
                found.append((left, width, HORIZON - int(random.integers(tall // 3, tall)) // 8 * 8 - 5, light))
                left += width + int(random.integers(0, 9))
        return found

    def frame(self, number: int) -> PushBuffer:
        """All of one picture."""
        target = self.targets[number % 2]
        pb = PushBuffer().on("3D").render_target(0, target).scissor((0, 0, WIDTH, HEIGHT))
        colors = sky_colors()
        pb.method("SET_COLOR_CLEAR_VALUE", 3, 1.0)
        pb.call_macro(0, 0, BAND, len(colors), *(float(value) for value in colors.reshape(-1)))
        pb.method("SET_COLOR_CLEAR_VALUE", 0, 0.75, 0.78, 0.9, 1.0).call_macro(1, 0x9E3779B9, 260)
        pb.on("2D").blit(self.moon, target, None, (96 + 24 * number, MOON_TOP, MOON, MOON)).on("3D")
        seed = 0x2545F491 + number // 2
        for i, (left, width, top, light) in enumerate(self.buildings()):
            start, end = max(left, 0), min(left + width, WIDTH)
            if start >= end:
                continue
            pb.scissor((start, top, end - start, HORIZON - top)).clear((light, light, light * 1.7, 1))
            columns, rows = (end - start - 3) // 6, (HORIZON - top - 6) // 8
            if columns > 0 and rows > 0:
                pb.method("SET_MME_SHADOW_SCRATCH", 0, columns)
                lit = (0.96, 0.74, 0.33, 1.0) if light < 0.1 else (0.5, 0.45, 0.4, 1.0)
                pb.method("SET_COLOR_CLEAR_VALUE", 0, *lit)
                pb.call_macro(2, seed + 7919 * i, start + 3, top + 4, rows)
        board = (360, 118, 3 * self.sign.width, 3 * self.sign.height)
        pb.on("2D").blit(self.sign, target, None, board, filter="BILINEAR")
        pb.on("3D").scissor((0, HORIZON - 4, WIDTH, 4)).clear((0.16, 0.13, 0.14, 1))
        pb.on("2D").blit(self.tram, target, None, (40 + 130 * number, HORIZON - 24, 68, 20))
        water = HEIGHT - HORIZON
        pb.blit(
            target, target, (0, HORIZON - 1.5 * water, WIDTH, 1.5 * water), (0, HORIZON, WIDTH, water),
            filter="BILINEAR", flip=True,
        ).on("3D")  # fmt: skip
        # Ripples: single channels of some rows.
        random = np.random.default_rng(5)
        for row in range(HORIZON + 3, HEIGHT, 3):
            left = int(random.integers(-80, 80)) + 10 * number
            blue = (row - HORIZON) / water
            pb.scissor((max(left, 0), row, WIDTH - abs(left), 1)).method("SET_COLOR_CLEAR_VALUE", 2, 0.16 + 0.2 * blue)
            pb.method("CLEAR_SURFACE", B_ENABLE=True)
            if row % 2:
                pb.method("SET_COLOR_CLEAR_VALUE", 0, 0.05).method("CLEAR_SURFACE", R_ENABLE=True)
        pb.report(self.semaphores + 32 + 16 * number, number, four_words=True)
        index = self.capture.syncpoint(DRAW)
        return pb.method("INCREMENT_SYNC_POINT", INDEX=index, CONDITION="ROP_WRITES_DONE")


def build() -> MaxwellCaptureBuilder:
    """The recording."""
    city = City()
    capture = city.capture
    # The drawing channel waits for the textures, which come later on the other one.
    first = PushBuffer().semaphore_acquire(city.semaphores, 1)
    capture.submit(city.set_up(), first, channel=DRAW)
    capture.submit(city.textures(), channel=COPY)
    for number in range(FRAMES):
        capture.submit(city.frame(number), channel=DRAW)
        capture.present(city.targets[number % 2], fence=number + 1)
    return capture


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests" / "pictures" / "city.mxcap.zip"
    build().save(path)
    print(f"{path}: {path.stat().st_size} bytes")
