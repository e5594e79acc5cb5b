"""Programs: their instructions as steps, their control flow, and which registers matter where."""
