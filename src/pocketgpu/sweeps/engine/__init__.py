"""The distributed engine, Dask: clusters (`clusters`), tasks on their way (`dispatch`), what workers do (`worker`),
kernels that they give each other (`kernels`)."""
