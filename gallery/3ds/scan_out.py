"""
A frame of both screens, line by line
=====================================

What the two display controllers do in one frame: blue sync, grey porches, the picture, and the beam's way through it.
"""

import numpy as np
from PIL import Image

from pocketgpu.pica.pdc import display_mode
from pocketgpu.pictures import beside

