"""The probe of the Switch."""
