"""Reductions over axes, and the normalisations built on them, kept whole."""
