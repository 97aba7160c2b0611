"""Convolutions in 1 to 3 spatial dimensions."""
