"""Whether a quote supports a claim, read from the two texts alone."""
