"""What becomes of a draw's primitives before raster, and what its registers alone say about that."""
