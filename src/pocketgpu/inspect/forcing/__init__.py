"""Which registers of each console can be forced to a value, and from where on: what `model.forcing` asks."""
