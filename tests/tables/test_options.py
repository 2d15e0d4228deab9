"""Values that an option does not take are named."""

import pytest

from transvariation.tables import SettingsError, read_table


def test_wrong_values_are_named_all_at_once():
    with pytest.raises(SettingsError) as caught:
        read_table(b"Na\n1\n", decimal="x", delimiter=";;", encoding="klingon")
    for words in ("decimal='x' must be", "delimiter=';;' must be one character", "encoding='klingon' is unknown"):
        assert words in str(caught.value)
    with pytest.raises(SettingsError, match="encoding='zlib' is unknown"):
        read_table(b"Na\n1\n", encoding="zlib")
