"""The turn of a conversation: what a model is given before it answers, and what is kept once it has."""
