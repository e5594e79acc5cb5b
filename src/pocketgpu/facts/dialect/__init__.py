"""How facts are written down: rows of tables, registers and fields, structures, values with symbols, certainty."""
