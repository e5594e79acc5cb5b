"""The shader unit: programs, their translation into lane code, and their arithmetic."""
