"""Figures, pages and reports: they render what was computed."""
