"""From a question to a pack or an honest silence. Knows nothing of writing."""
