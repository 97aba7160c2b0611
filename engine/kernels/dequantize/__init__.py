"""Weights kept as integers, made floats again where they are used."""
