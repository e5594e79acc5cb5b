"""The `.pgc` format: sections, records, and contents as plain values. See docs/formats/pgc.md."""
