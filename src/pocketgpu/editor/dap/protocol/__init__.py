"""The Debug Adapter Protocol: messages in streams of bytes, and requests with their arguments."""
