"""Readers of model formats; each gives a Graph."""
