"""The step engine's clock: rules of time over plain arrays, and the events they give."""
