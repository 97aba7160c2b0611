"""Pooling windows."""
