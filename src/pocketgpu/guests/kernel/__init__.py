"""What kernels of both consoles have in common: time, threads, objects to wait for, memory, files."""
