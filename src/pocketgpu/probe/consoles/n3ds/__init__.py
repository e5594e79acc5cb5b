"""The probe of the 3DS."""
