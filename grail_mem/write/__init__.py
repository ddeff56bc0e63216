"""The only code that changes observations: validate, add, change, sync. Knows nothing of ranking."""
