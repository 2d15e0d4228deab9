"""What all selectors share."""

import numpy as np
import pandas as pd
import pytest

from transvariation.feature_selection.base import TargetSelector


class LargestMean(TargetSelector):
    def _select(self, X):
        self.selected_ = np.argsort(-X.mean(axis=0))[:2]


def test_selected_features_are_kept_in_the_order_of_the_table():
    X = pd.DataFrame([[1.0, 9.0, 2.0, 7.0], [2.0, 8.0, 1.0, 9.0]], columns=list("abcd"))
    selector = LargestMean().set_output(transform="pandas").fit(X, y=["ignored", "labels"])
    assert selector.selected_.tolist() == [1, 3]
    assert selector.get_support().tolist() == [False, True, False, True]
    pd.testing.assert_frame_equal(selector.transform(X), X[["b", "d"]])


def test_what_cannot_be_selected_from_is_refused():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        LargestMean().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="too large"):
        LargestMean().fit([[1.0, 1e200], [1.0, 2.0]])
