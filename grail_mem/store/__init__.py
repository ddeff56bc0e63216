"""Bytes on disk: files, ledger, snapshots. Knows nothing of questions or of DuckDB's query side."""
