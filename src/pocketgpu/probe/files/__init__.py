"""The files that a probe is sent, and its answers. docs/formats/probe.md describes them."""
