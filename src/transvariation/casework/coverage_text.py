"""What a rule of a case promises, in words that need no knowledge of calibration modes."""

from dataclasses import replace

from transvariation.calibration import CoverageReport


def in_plain_words(coverage: CoverageReport) -> CoverageReport:
    """Tell the promise to those who judge a case: it is always the one of held-out objects, all of them in turn."""
    grouped = coverage.unit == "groups"
    unseen, new = ("seen nothing of its group", " and of a new group") if grouped else ("not seen it", "")
    one_by_one = coverage.calibration == "loo" or coverage.n <= 10  # ten folds of ten objects
    left_out = f"one {coverage.unit[:-1]}" if one_by_one else f"a tenth of the {coverage.unit}"
    parts = " Each part of the control has a threshold of its own." if len(coverage.n_per_stratum) > 1 else ""
    words = (
        f"Approximate: each control object was rated by a rule that had {unseen}; recovered objects are rated by "
        f"the rule from all.{parts} A new object from the control's source{new} is accepted about as often as the "
        f"sensitivity says, as far as leaving out {left_out} hardly changes the ratings. This was tried "
        "on data of many kinds; it is not proved for every kind."
    )
    return replace(coverage, guarantee=words)
