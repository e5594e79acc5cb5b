"""Enumerations of the 3DS's registers: for each number a symbol for code and a text for readers.

The table is n3ds/values.tsv. `COMPARE.LESS` is a number, `COMPARE[4]` its text. A field's own enumeration is
`PICA.field("STENCIL_TEST.function").values`.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.values import Values
from pocketgpu.facts.n3ds import TABLES

CULL: Final[Values] = TABLES.values("cull")
COMPARE: Final[Values] = TABLES.values("compare")
EARLY_DEPTH_COMPARE: Final[Values] = TABLES.values("early_depth_compare")
SCISSOR: Final[Values] = TABLES.values("scissor")
WRAP: Final[Values] = TABLES.values("wrap")
FILTER: Final[Values] = TABLES.values("filter")
TEXTURE_TYPE: Final[Values] = TABLES.values("texture_type")
TEXTURE_FORMAT: Final[Values] = TABLES.values("texture_format")
COLOR_FORMAT: Final[Values] = TABLES.values("color_format")
DEPTH_FORMAT: Final[Values] = TABLES.values("depth_format")
PIXEL_SIZE: Final[Values] = TABLES.values("pixel_size")
TEXENV_SOURCE: Final[Values] = TABLES.values("texenv_source")
TEXENV_RGB_OPERAND: Final[Values] = TABLES.values("texenv_rgb_operand")
TEXENV_ALPHA_OPERAND: Final[Values] = TABLES.values("texenv_alpha_operand")
TEXENV_COMBINER: Final[Values] = TABLES.values("texenv_combiner")
TEXENV_SCALE: Final[Values] = TABLES.values("texenv_scale")
FOG_MODE: Final[Values] = TABLES.values("fog_mode")
SHADING_DENSITY: Final[Values] = TABLES.values("shading_density")
FRAGMENT_MODE: Final[Values] = TABLES.values("fragment_mode")
BLEND_EQUATION: Final[Values] = TABLES.values("blend_equation")
BLEND_FACTOR: Final[Values] = TABLES.values("blend_factor")
LOGIC_OP: Final[Values] = TABLES.values("logic_op")
STENCIL_ACTION: Final[Values] = TABLES.values("stencil_action")
DEPTH_CLASS: Final[Values] = TABLES.values("depth_class")
PROCTEX_CLAMP: Final[Values] = TABLES.values("proctex_clamp")
PROCTEX_MAP: Final[Values] = TABLES.values("proctex_map")
PROCTEX_SHIFT: Final[Values] = TABLES.values("proctex_shift")
PROCTEX_FILTER: Final[Values] = TABLES.values("proctex_filter")
PROCTEX_TABLE: Final[Values] = TABLES.values("proctex_table")
LIGHT_LUT: Final[Values] = TABLES.values("light_lut")
LIGHT_LUT_INPUT: Final[Values] = TABLES.values("light_lut_input")
LIGHT_LUT_SCALE: Final[Values] = TABLES.values("light_lut_scale")
LIGHT_LAYER: Final[Values] = TABLES.values("light_layer")
FRESNEL: Final[Values] = TABLES.values("fresnel")
BUMP_MODE: Final[Values] = TABLES.values("bump_mode")
SEMANTIC: Final[Values] = TABLES.values("semantic")
ATTRIBUTE_TYPE: Final[Values] = TABLES.values("attribute_type")
COMPONENT: Final[Values] = TABLES.values("component")
INDEX_TYPE: Final[Values] = TABLES.values("index_type")
GEOMETRY_STAGE: Final[Values] = TABLES.values("geometry_stage")
PRIMITIVE: Final[Values] = TABLES.values("primitive")
GEOMETRY_MODE: Final[Values] = TABLES.values("geometry_mode")
FILL_WIDTH: Final[Values] = TABLES.values("fill_width")
TRANSFER_FORMAT: Final[Values] = TABLES.values("transfer_format")
TRANSFER_SCALE: Final[Values] = TABLES.values("transfer_scale")
INTERLACE: Final[Values] = TABLES.values("interlace")
DMA_SIZE: Final[Values] = TABLES.values("dma_size")
UNIT2_COORDINATES: Final[Values] = TABLES.values("unit2_coordinates")
GAS_LUT_INPUT: Final[Values] = TABLES.values("gas_lut_input")
