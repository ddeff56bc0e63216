"""Exact questions, answered by DuckDB over a snapshot and what came after it. Knows nothing of ranking or writing."""
