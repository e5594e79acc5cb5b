"""Pixel formats of the chip: words of a pixel to values of its channels, and back.

One description over lanes serves clears, blits, targets, textures, vertices (in LLVM) and arrays (in NumPy):

* `components.py`: one channel, its type, and how its bits become a value and the reverse.
* `channels.py`: all channels of a format, derived from the table of facts.
* `words.py`: the words of a pixel in memory.
* `small_floats.py` and `srgb.py`: floats of 16, 11 and 10 bits; the sRGB curve with its tables.
* `arrays.py`: whole surfaces as NumPy arrays, for users, tools and tests.
* `samples.py`: the positions of the samples of a multisampled pixel.
"""
