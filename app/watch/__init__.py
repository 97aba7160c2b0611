"""Breakpoints and watchpoints: the language, where a condition turns true, and why it did."""
