"""
Screens lie on their side
=========================

A little house as it lies in memory, as the screen shows it, and as it looks if a program forgets to turn its picture.
"""

from pocketgpu.builder import Canvas
from pocketgpu.builder.canvas import clip
from pocketgpu.pictures import beside

# Left, top, right, bottom and colour: meadow, wall, door, windows, chimney.
BOXES = [
    ((0, 180, 400, 240), (96, 150, 80)), ((130, 110, 280, 205), (235, 220, 185)), ((235, 145, 262, 205), (120, 80, 60)),
    ((150, 130, 176, 158), (110, 170, 225)), ((192, 130, 218, 158), (110, 170, 225)),
    ((230, 40, 250, 90), (150, 70, 60)),
]
ROOF = [(115, 112), (205, 45), (295, 112)]
SUN = [(340, 50), (340, 10), (372, 26), (380, 50), (368, 78), (340, 90), (312, 78), (300, 50), (312, 26), (340, 10)]


def draw(place):
    """The house, by a rule for places in clip space."""
    canvas = Canvas((150, 200, 235, 255))
    for (left, top, right, bottom), color in BOXES:
        corners = [place(x, y) for x, y in ((left, bottom), (right, bottom), (right, top), (left, top))]
        canvas.paint((*color, 255))
        canvas.draw_vertices([(*one, -0.5) for one in corners], (1, 1, 1), (0, 0, 1), primitive="triangle fan")
    for points, color in ((ROOF, (190, 80, 60)), (SUN, (255, 225, 110))):
        canvas.paint((*color, 255))
        canvas.draw_vertices([(*place(*one), -0.5) for one in points], (1, 1, 1), (0, 0, 1), primitive="triangle fan")
    return canvas


turned, forgotten = draw(clip), draw(lambda x, y: (x / 200 - 1, 1 - y / 120))
pictures = [turned.decoded(turned.target, 240, 400), turned.image(), forgotten.image()]
beside(pictures, ["in memory: 240 x 400", "on the screen: 400 x 240", "not turned"]).save("turned_screen.png")

# %%
# Both screens are mounted with a turn of 90 degrees. A line of the framebuffer is a column of the upright picture,
# and its first pixel is the lowest: the upper screen has 400 lines of 240 pixels. So a render target is 240 wide and
# 400 high (:register:`FRAMEBUFFER_DIM`), and programs turn their picture by a rotation in the projection matrix,
# ``UPRIGHT`` in ``pocketgpu.builder.matrices``: what points up becomes x of clip space, and what points right becomes
# -y. It costs nothing, as it is multiplied into a matrix that is there anyway. Without it the picture lies on its
# side and is stretched, as the third one. :register:`PDC0_STRIDE` has the bytes from one line to the next, 720 for
# 240 pixels of three bytes, and :register:`PDC0_SIZE` names width and height in the same turned order. Pictures of
# this package are always upright.
