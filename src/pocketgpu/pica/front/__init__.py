"""The front of the 3D core: the walk of command lists, and recorded draws that become batches."""
