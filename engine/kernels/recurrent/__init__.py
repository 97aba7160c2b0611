"""The recurrent family: cells that run step by step over time."""
