"""Knobs in files, in today's form and in older ones."""
