"""The built-in detectors: each reads a store and yields findings of one kind."""
