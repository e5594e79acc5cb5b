"""Services of the Switch that programs talk to."""
