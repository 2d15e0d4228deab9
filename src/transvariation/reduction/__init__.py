"""REDUCE: fewer, more telling variables."""
