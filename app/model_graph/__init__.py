"""The model's graph as boxes: scopes that open and close, their layout, the kernels of nodes."""
