"""What the words mean: frozen values and rules over them. Knows nothing of files or SQL."""
