"""Reads at computed indices."""
