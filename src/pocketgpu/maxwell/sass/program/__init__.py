"""Programs: their instructions made plain, their control flow, and which registers matter where."""
