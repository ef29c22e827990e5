"""A catalogue on disk and the corpus that it becomes."""
