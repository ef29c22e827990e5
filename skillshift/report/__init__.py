"""Reports: what the diagnostics say, as text, Markdown, CSV, JSON and Parquet. They compute nothing."""
