"""Texture units 0 to 3: decoding, caching, sampling, shadow maps and procedural textures."""
