"""The store inside agent frameworks, one module each; a framework is loaded by its own module alone."""
