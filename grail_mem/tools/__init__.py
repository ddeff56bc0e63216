"""The five tools of an agent: one definition, its schemas for every format, and the calls."""
