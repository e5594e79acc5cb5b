"""The vertex side of a draw: attributes are fetched, and vertex programs run over them."""
