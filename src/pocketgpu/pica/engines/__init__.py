"""The units that move memory by themselves: memory fill (PSC) and the transfer engine (PPF)."""
