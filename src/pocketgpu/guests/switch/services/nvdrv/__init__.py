"""The service nvdrv: devices of the GPU's driver, in front of the machine."""
