"""
Combiner buffer
===============

A ring that stage 0 writes into the combiner buffer: whether stage 1 or stage 2 sees it there, by both readings.
"""

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

canvas = Canvas()
for reader in (1, 2):
    canvas.clear()
    canvas.list.depth("greater")
    canvas.lighting({"D0": [(n / 256) ** 30 for n in range(257)]}, ambient=(60, 50, 30))
    canvas.light(0, (2, 4, 5), diffuse=(190, 140, 60), specular=(220, 220, 200))
    canvas.list.write("TEXENV_BUFFER_COLOR", r=90, g=60, b=160, a=255)
    canvas.list.write("TEXENV_UPDATE_BUFFER", rgb0=True)
    canvas.list.combiner(1, ("replace", "constant"), color=(40, 120, 110, 255))
    canvas.list.combiner(reader, ("replace", "combiner buffer"))
    canvas.mesh(shapes.torus(1, 0.4), rotation((1, 0.3, 0), -0.6))
    canvas.end_frame()

pictures, labels = [], []
for delay in ("one-stage", "none"):
    images = canvas.images(switches={"combiner.buffer_delay": delay})
    for reader, picture in enumerate(images, 1):
        pictures.append(picture.crop((90, 20, 310, 220)))
        labels.append(f"{delay}: stage {reader} reads")
beside(pictures, labels).save("combiner_buffer.png")

# %%
# Beside the result of the previous stage a stage can read the combiner buffer. It starts as
# :register:`TEXENV_BUFFER_COLOR`, here violet, and the results of stages 0 to 3 go into it where a bit of
# :register:`TEXENV_UPDATE_BUFFER` says so, for colour and alpha apart. Here only the colour of stage 0 does, the lit
# ring; stage 1 then computes a plain green, which is thrown away by whoever reads the buffer. A later stage can so
# take up what an earlier one left, while stages between them prepare a mask. When is the new value there? Measured on
# a console: a stage later, so stage 1 still reads violet, and stage 2 reads the ring. The other reading,
# :choice:`combiner.buffer_delay` = ``none``, gives stage 1 the ring too, and all pictures on the right are the same.
