"""Running a warp: what instructions do to it, its control flow, and the two executors."""
