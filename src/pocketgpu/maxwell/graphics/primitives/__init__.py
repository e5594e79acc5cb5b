"""From primitives to shapes: culling, clipping, planes of attributes, set-up."""
