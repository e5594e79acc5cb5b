"""Files that hold shader code: cubins and modules of deko3d."""
