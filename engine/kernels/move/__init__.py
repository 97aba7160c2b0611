"""Data movement without arithmetic."""
