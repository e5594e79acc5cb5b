"""A warp at work: what instructions do to it, its control flow, and the two executors."""
