"""What makes ranked recall possible: terms, passages, vectors, the graph of entities. Knows nothing of how they are weighed."""
