"""Evidence calibrated by a background: pairs of fragments, same-source differences and likelihood ratios."""
