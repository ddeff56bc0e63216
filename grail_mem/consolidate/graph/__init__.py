"""The graph of observations and what they mention: its clusters, and which folder a thing belongs to."""
