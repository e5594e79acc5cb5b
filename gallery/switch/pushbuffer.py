"""
A pushbuffer, word by word
==========================

Every word of a small pushbuffer is a box, orange for headers, blue for data and green for values inside of a header.
"""

import json

from PIL import Image, ImageDraw, ImageFont

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.inspect.decode import decode_words

pb = PushBuffer().bind("3D").scissor((40, 30, 120, 80)).clear((0.1, 0.2, 0.4, 1.0))
pb.method("SET_DEPTH_TEST", 1).method("BEGIN", OP="TRIANGLES").method("DRAW_INLINE_INDEX", 0, 1, 2, form="non_inc")
pb.method("END", 0)
decoded = decode_words(pb.words, "pushbuffer")
words = [json.loads(line) for line in decoded.json_lines()][1:]

COLORS = {"header": (230, 159, 0), "parameter": (0, 114, 178), "immediate": (0, 158, 115)}
WIDTH, HEIGHT, ROWS = 330, 26, -(-len(words) // 2)
picture = Image.new("RGB", (2 * WIDTH, ROWS * HEIGHT + 8), (24, 24, 27))
draw = ImageDraw.Draw(picture)
mono, font = ImageFont.load_default(14), ImageFont.load_default(12)
for n, word in enumerate(words):
    x, y = n // ROWS * WIDTH + 8, n % ROWS * HEIGHT + 6
    inside = 24 if word["what"] == "parameter" else 0
    draw.rounded_rectangle((x + inside, y, x + inside + 84, y + 21), 4, fill=COLORS[word["what"]])
    draw.text((x + inside + 10, y + 2), word["word"][2:], "white", mono)
    name = word["register"]["name"] if word["what"] != "header" else f"{word['block']} from {word['register']['name']}"
    draw.text((x + 116, y + 4), name[:34], (228, 228, 231), font)
picture.save("pushbuffer.png")

# %%
# A program of the Switch gives work to its GPU as words in memory, and only their address and length go to the channel.
# A header word (orange) has a form, a count, a subchannel, to which a class is bound, and the number of a method. The
# words after it (blue) are values: for that method and the next ones if the form increments, or all for one method, as
# here for the three indices of :method:`DRAW_INLINE_INDEX`. A value of 13 bits can be in the header itself (green).
# Most methods set a register, such as :method:`SET_SCISSOR_HORIZONTAL`; some do something, as :method:`CLEAR_SURFACE`
# and :method:`DRAW_INLINE_INDEX`. The first two words bind the 3D class, B197, to subchannel 0. The names in the
# picture come from ``pocketgpu.inspect.decode``, which reads pushbuffers of recordings too.
