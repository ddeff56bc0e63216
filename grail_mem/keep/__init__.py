"""Keeping a store: backup and restoring, export and import, and its history."""
