"""Names of entities: how two compare, what speaks for and against their being one, and groups of them."""
