"""The end of the pixel pipeline: tests, blending and writes into targets."""
