"""The 3D class B197: triggers, clears, and draws as records."""
