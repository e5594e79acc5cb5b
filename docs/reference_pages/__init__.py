"""What makes the reference of the site: pages of registers, methods, structures and instructions, and links to them."""
