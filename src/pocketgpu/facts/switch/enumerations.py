"""Enumerations of the Switch's system software.

    MESSAGE_TYPE.CLOSE  # 2
    LANGUAGE[1]  # "en-US"

The rows are in switch/values.tsv.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.switch import TABLES

MESSAGE_TYPE: Final = TABLES.values("message_type")
"""What a message is; from 16 on a command of the short protocol."""
DOMAIN_KIND: Final = TABLES.values("domain_kind")
"""What a message to a domain wants."""
APPLET_MESSAGE: Final = TABLES.values("applet_message")
"""What a console tells its programs."""
OPERATION_MODE: Final = TABLES.values("operation_mode")
FOCUS: Final = TABLES.values("focus")
LANGUAGE: Final = TABLES.values("language")
"""Languages, and their codes as texts."""
REGION: Final = TABLES.values("region")
LOG_PIECE: Final = TABLES.values("log_piece")
"""Pieces of a message to lm."""
RESULT_MODULE: Final = TABLES.values("result_module")
"""Modules of result codes; their names as texts."""
LIBNX_ERROR: Final = TABLES.values("libnx_error")
"""Descriptions of libnx's own result codes; its names as texts."""
