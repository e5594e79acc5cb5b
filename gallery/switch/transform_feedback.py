"""
Transform feedback
==================

4000 points that the vertex program has moved sixty times wind up into a spiral, and leave trails.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas

POINTS, STEPS = 4000, 60
VERTEX = """
    ALD.128 R0, a[0x80]                  // attribute 0: where the point is
    ALD.128 R4, a[0x90]                  // attribute 1: its colour
    FMUL R8, R0, R0
    FFMA R8, R1, R1, R8
    FADD R8, R8, 0.0625                  // r * r and a little
    MUFU.RCP R8, R8
    FMUL32I R8, R8, 0.012                // points near the middle turn faster
    MOV R9, R0
    FFMA R0, R1, -R8, R0                 // a step along the circle
    FFMA R1, R9, R8, R1
    FMUL32I R0, R0, 0.994                // and a little inwards
    FMUL32I R1, R1, 0.994
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""
rng = np.random.default_rng(3)
along, arm = rng.uniform(0.1, 1.0, POINTS), rng.integers(0, 3, POINTS)
angle = arm * 2 * np.pi / 3 + rng.normal(0, 0.12, POINTS)
color = np.array([(0.10, 0.045, 0.02), (0.02, 0.06, 0.10), (0.07, 0.02, 0.08)])[arm]
points = np.stack([along * np.cos(angle), along * np.sin(angle), 0 * along, 1 + 0 * along], axis=1)
start = np.concatenate([points, color, 1 + 0 * points[:, :1]], axis=1).astype("<f4")

canvas = MaxwellCanvas(400, 400, (8, 8, 16))
pb = canvas.programs(vertex=VERTEX).blend("ONE", "ONE").vertices(start).pb
buffers = [canvas.allocate(start.nbytes), canvas.allocate(start.nbytes)]
pb.method("SET_STREAM_OUTPUT", 1).method("SET_STREAM_OUT_BUFFER_ENABLE", 0, 1)
pb.method("SET_STREAM_OUT_BUFFER_SIZE", 0, start.nbytes).method("SET_STREAM_OUT_CONTROL_STRIDE", 0, 32)
pb.method("SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", 0, 8)
pb.method("SET_STREAM_OUT_LAYOUT_SELECT", 0, 0x1F1E1D1C, 0x23222120)  # words 0x70 / 4 and on: position and colour
for step in range(STEPS):
    pb.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", 0, buffers[step % 2])
    pb.method("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", 0, 0).draw("POINTS", POINTS)
    pb.stream(0, buffers[step % 2], 32, size=start.nbytes)  # the next draw starts with what this one wrote
canvas.image().save("transform_feedback.png")

# %%
# What the vertex program puts out can be written to memory before it is drawn.
# :method:`SET_STREAM_OUT_BUFFER_ADDRESS_A` and :method:`SET_STREAM_OUT_BUFFER_SIZE` say where,
# :method:`SET_STREAM_OUT_CONTROL_STRIDE` how far apart the vertices are, and :method:`SET_STREAM_OUT_LAYOUT_SELECT` has
# a byte for each word: the number of the attribute word that is stored there. Here that is position and colour, so a
# buffer looks like the vertices of the next draw. Two buffers take turns: each draw reads one, moves all points a
# little around the middle, writes them to the other one, and also draws them, added to what is there. After sixty draws
# three straight arms have become a spiral. The processor has computed no position after the first one. Without
# :method:`SET_RASTER_ENABLE` the GPU would only write the buffers.
