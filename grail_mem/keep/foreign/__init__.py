"""Foreign stores: what each kind says, as drafts with where they came from.

From the ground up: `said` (a draft or the reason for none), `streamed` (JSON of any size), `place` (a file, a folder or a zip),
`notes` (markdown of vaults), `database`, `columns` and `row_values` (SQLite), one module for each kind, `kinds` (which is which).
"""
