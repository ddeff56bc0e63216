"""Whether a quote supports a claim; knows texts only."""
