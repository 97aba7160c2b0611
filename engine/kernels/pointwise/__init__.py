"""Scalar functions applied element by element."""
