"""Sound of the Switch: outputs, and the renderer."""
