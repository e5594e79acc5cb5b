"""A language server for the texts that the assemblers take: shaders of the 3DS, kernels and macros of the Switch."""
