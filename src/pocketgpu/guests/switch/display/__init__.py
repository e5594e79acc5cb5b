"""The display of a Switch: layers, their queues of buffers, and what is on the screen."""
