"""Keeping private matters out of what is written: withholding, redaction, and the search for what is left."""

DISCLAIMER = "a denylist is a filter that ran, not a guarantee: look at the file before you pass it on"
"""What everything that is said about a sanitised corpus must say too."""
