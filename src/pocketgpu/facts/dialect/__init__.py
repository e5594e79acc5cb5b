"""The dialect of the fact tables: rows of tables, registers and fields, structures, values with symbols, certainty."""
