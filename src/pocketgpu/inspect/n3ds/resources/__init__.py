"""What a draw of the 3DS is bound to: targets, textures, buffers, programs, tables; and a summary of its state."""
