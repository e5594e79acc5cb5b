"""
Texture copies with gaps
========================

A piece is cut out of a map and put into another picture; with a gap that is too small, its rows run away to the side.
"""

from pocketgpu.builder import Canvas
from pocketgpu.builder.patterns import checks, noise, ramp
from pocketgpu.pictures import beside

LAND = [(24, 60, 120, 255), (50, 110, 180, 255), (225, 205, 150, 255), (90, 150, 70, 255), (60, 100, 60, 255),
        (140, 130, 120, 255), (245, 245, 250, 255)]
SIDE, PIECE = 128, 64  # pixels of the map and of the piece
ROW, PART, TILE = 4 * 8 * SIDE, 4 * 8 * PIECE, 4 * 8 * 8  # bytes: of a row of tiles, of its part, and of a tile

canvas = Canvas()
land = canvas.capture.put_texture(ramp(noise(SIDE, 2, 5, seed=4), LAND))
boards = [canvas.capture.put_texture(checks(SIDE, 16, [(40, 44, 60, 255), (54, 58, 76, 255)])) for _ in range(2)]
piece = canvas.capture.allocate(PART * PIECE // 8)

start = land + 3 * ROW + 5 * TILE  # the piece begins in the fourth row of tiles, with the sixth tile
middle = 4 * ROW + 4 * TILE
lines = (piece, (0, 0)), (boards[0] + middle, (PART, ROW - PART)), (boards[1] + middle, (PART, ROW - PART - TILE))
for target, line in lines:
    canvas.capture.copy(start, target, PART * PIECE // 8, input_line=(PART, ROW - PART), output_line=line)

places = [(land, SIDE), (piece, PIECE), (boards[0], SIDE), (boards[1], SIDE)]
pictures = [canvas.decoded(address, side, side) for address, side in places]
beside(pictures, ["map", "cut out", "put in", "gap too small"], scale=2).save("texture_copy.png")

# %%
# The unit of display transfers can also copy bytes as they are, with the bit "texture_copy" of :register:`PPF_FLAGS`.
# A line is a number of bytes to copy and a number to skip, on the side of the input (:register:`PPF_COPY_INPUT`) and
# of the output (:register:`PPF_COPY_OUTPUT`); :register:`PPF_COPY_SIZE` is the sum of all copied bytes. A row of
# tiles, 8 pixels high, is one piece of memory, so a rectangle of whole tiles is copied with one command: the width of
# the line is the part of each row of tiles, the gap is the rest. In the last picture the gap of the output is one
# tile too small, and each row of tiles begins 8 pixels further left. Widths and gaps are stored in units of 16 bytes
# (:choice:`texture_copy.units`), and a gap with lines of width 0 stops the unit for good
# (:choice:`texture_copy.zero_width`).
