"""Kernel families, one folder each: what they compute, what they cost, how values come about."""
