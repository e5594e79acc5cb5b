"""Programs of the Switch: their loader, kernel, messages and services."""
