"""What a model file is refused with."""


class ModelFileError(ValueError):
    """A model file that is truncated, damaged, tampered with, or of a kind that this version cannot read."""
