"""Partitioning around medoids (PAM)."""
