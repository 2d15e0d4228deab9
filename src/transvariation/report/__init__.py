"""TELL: figures and pages. They only render what was computed."""
