"""What the evaluation says, laid out for people and programs. Nothing here computes a value."""
