"""The leaderboard: reading a folder of submissions, ranking them, listing them, checking a new one."""
