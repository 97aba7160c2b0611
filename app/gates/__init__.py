"""Conditions on figures that fail a build: on the command line, as JUnit, in pytest."""
