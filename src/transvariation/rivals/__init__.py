"""The competitors, on the same base and so with the same cut."""
