"""Two runs against each other: figures, kernels, and where they differ."""
