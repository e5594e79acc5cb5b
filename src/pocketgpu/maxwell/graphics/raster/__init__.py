"""From shapes to blocks of pixels."""
