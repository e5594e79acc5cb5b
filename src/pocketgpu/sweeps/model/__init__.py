"""What goes to workers and comes back: tasks (`task`) and rows (`rows`)."""
