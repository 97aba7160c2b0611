"""The parts a Debugger is made of: where the user is, what they turned, who works for them."""
