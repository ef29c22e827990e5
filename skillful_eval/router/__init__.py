"""Routers: what makes the runs that are measured. One protocol, one module a router."""
