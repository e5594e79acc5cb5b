"""The copy engine, class B0B5."""
