"""Keeping private matters out of what is written: withholding, redaction, and the search for what is left."""
