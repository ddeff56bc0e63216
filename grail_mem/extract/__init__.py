"""What people say of themselves, found in their words by rules."""
