"""Submissions: the results document, the run's receipt, and the checks that both must pass.

A submission publishes ten numbers a metric and a receipt, never per-task judgements.
"""
