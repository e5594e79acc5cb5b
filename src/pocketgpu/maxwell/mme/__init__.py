"""The macro method expander: a small processor in front of the graphics classes that turns one method into many."""
