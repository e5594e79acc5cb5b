"""What happens in a frame as a whole: what uses what others wrote, and which unit does what when."""
