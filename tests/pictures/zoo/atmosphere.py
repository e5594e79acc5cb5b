"""Fog and gas."""

from __future__ import annotations

import numpy as np

from .stage import RED, YELLOW, Scene, scene

DEPTH = np.arange(129) / 128


@scene(5, 2, 16)
def fog(s: Scene) -> None:
    """Blue fog by depth, which grows to the right, on yellow and red: off; a table that falls evenly (no fog at depth
    0); the same looked up by 1 - depth; a step in the middle; a table that rises. Lower row: fog modes 1, 2 and 4
    (off); by depth times w, where w falls to the right; a table of zeros. Alpha grows upward and stays, fog or not."""
    tables = {"even": 1 - DEPTH, "step": (DEPTH < 0.5).astype(float), "rising": DEPTH}
    s.cl.write("FOG_COLOR", r=40, g=70, b=230)
    cells = (
        ("off", 0, "even", False), ("even", 5, "even", False), ("even, z flipped", 5, "even", True),
        ("step", 5, "step", False), ("rising", 5, "rising", False), ("mode 1", 1, "even", False),
        ("mode 2", 2, "even", False), ("mode 4", 4, "even", False), ("depth times w", 5, "even", False),
        ("fully fogged", 5, "nothing", False),
    )  # fmt: skip
    for label, mode, table, flip in cells:
        s.cell(label).write("TEXENV_UPDATE_BUFFER", fog_mode=mode, z_flip=flip)
        s.cl.fog_table(tables.get(table, 0 * DEPTH))
        s.cl.write("DEPTHMAP_ENABLE", enable=label != "depth times w")
        w = (1, 0.25, 0.25, 1) if label == "depth times w" else 1.0
        colors = ((*YELLOW[:3], 0.2), (*YELLOW[:3], 0.2), RED, RED) if w == 1.0 else YELLOW
        s.quad(colors, z=(0, -1, -1, 0), w=w)


SIDE = 32


def clouds(s: Scene, kind: str | int) -> int:
    """Sums of three overlapping clouds in a buffer of their own, a slope of depths in front; returns its address."""
    address = s.capture.allocate(4 * SIDE * SIDE, region="VRAM")
    depth = s.capture.allocate(4 * SIDE * SIDE, region="VRAM")
    x = (np.arange(SIDE) + 0.5) / SIDE
    words = np.broadcast_to((x * 0xFFFFFF).astype("<u4"), (SIDE, SIDE))
    tiled = words.reshape(SIDE // 8, 8, SIDE // 8, 8)
    order = np.zeros((8, 8), int)
    for row in range(8):
        for column in range(8):
            order[row, column] = sum((column >> b & 1) << 2 * b | (row >> b & 1) << 2 * b + 1 for b in range(3))
    data = np.zeros((SIDE // 8, SIDE // 8, 64), "<u4")
    for row in range(8):
        for column in range(8):
            data[:, :, order[row, column]] = tiled[:, row, :, column]
    s.capture.load(depth, data.tobytes()).load(address, bytes(4 * SIDE * SIDE))
    s.cl.render_target(address, SIDE, SIDE, depth=depth).depth("not equal", write=False)
    s.cl.write("COLOR_OPERATION", fragment_mode="gas", line_config=0xE4)
    s.cl.write("GAS_DELTAZ_DEPTH", delta_z=512, function=kind)
    for red, size, z in ((0.3, 0.9, -0.2), (0.5, 0.6, -0.5), (0.8, 0.3, -0.9)):
        s.triangle((red, 0, 0, 1), size=size, z=z)
    s.submit()
    return address


@scene(4, 2, 32, events=["pica.gas"], choices={"gas.hypothesis": "density"})
def gas(s: Scene) -> None:
    """A guess, by the choice gas.hypothesis: three nested triangles of gas before a slope of depths that grows to the
    right. Upper row, the depth density for each class of depth function: never (nothing), always, greater, other. Lower
    row: the plain density; half the scale; half the attenuation (alpha); colours by light instead of density."""
    buffers = [clouds(s, kind) for kind in ("never", "always", "greater", "other")]
    s.surfaces += [s.surface(f"sums {n}", at, "RGBA8", width=SIDE, height=SIDE) for n, at in enumerate(buffers)]
    colors = [(20, 20, 80), (120, 20, 120), (220, 40, 60), (250, 120, 20), (255, 200, 40), (255, 240, 140)]
    table = [(*c, 0) for c in [*colors, (255, 255, 220), (255, 255, 255)]]
    s.cl.write("GAS_LUT_INDEX").fifo("GAS_LUT_DATA", [0] * 8 + [r | g << 8 | b << 16 for r, g, b, _ in table])
    s.cl.write("GAS_LIGHT_XY", minimum=40, maximum=220, attenuation=255)
    s.cl.write("GAS_LIGHT_Z", minimum=0, maximum=120, attenuation=128)

    def show(label: str, buffer: int, density: str, largest: float, attenuation: float, light: bool = False) -> None:
        s.cell(label).texture(0, buffers[buffer], SIDE, SIDE, filter="nearest", wrap="clamp to edge")
        s.cl.write("TEXENV_UPDATE_BUFFER", fog_mode="gas", shading_density=density)
        s.cl.write("GAS_ACCMAX", value=1 / largest).write("GAS_ATTENUATION", value=attenuation)
        s.cl.write("GAS_LIGHT_Z_COLOR", direction=160, lut_input=int(light))
        s.quad()

    for number, kind in enumerate(("never", "always", "greater", "other")):
        show(f"depth density, {kind}", number, "depth density", 420, 1.0)
    show("plain density", 2, "plain density", 420, 1.0)
    show("plain density, half the scale", 2, "plain density", 840, 1.0)
    show("plain density, half the attenuation", 2, "plain density", 420, 0.5)
    show("colours by light", 2, "plain density", 420, 1.0, light=True)


@scene(2, 1, 16, events=["pica.gas"])
def gas_unknown(s: Scene) -> None:
    """What is drawn of gas without a guess: shaded, it is transparent black; adding it up leaves the buffer alone."""
    s.cell("shaded").write("TEXENV_UPDATE_BUFFER", fog_mode="gas")
    s.quad(YELLOW)
    s.cell("added up").write("TEXENV_UPDATE_BUFFER")
    s.cl.write("COLOR_OPERATION", fragment_mode="gas", line_config=0xE4)
    s.quad(YELLOW)
