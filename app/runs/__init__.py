"""A compiled and executed model: opened, saved, its figures, series and values. Knows no cursor."""
