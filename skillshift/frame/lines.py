"""From the n-th record of a file to its line: what messages show and fast readers do not keep."""
