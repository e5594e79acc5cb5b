"""What is stepped through: lanes with their traces, where source text is, where to stop, and what variables show."""
