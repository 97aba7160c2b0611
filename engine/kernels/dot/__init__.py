"""Matrix products: weights or a second activation stationary, the first operand streamed."""
