"""What observations say, in words and numbers: equal wordings, differences, relations, and who said it."""
