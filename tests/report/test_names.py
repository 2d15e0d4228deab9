"""Names of a table on axes: unchanged, in at most three lines, rotated where they do not fit."""

import matplotlib.pyplot as plt

from transvariation.report.names import label_axes, label_ticks, wrapped


def test_names_are_wrapped_to_three_lines():
    assert wrapped("K") == "K"
    lines = wrapped("one word after the other " * 10, 20).splitlines()
    assert len(lines) == 3
    assert lines[-1].endswith(" …")
    assert max(map(len, lines)) <= 20


def test_east_asian_letters_count_twice():
    assert [len(line) for line in wrapped("鉄" * 30, 20).splitlines()] == [10, 10, 10]


def test_dollar_signs_are_no_formula():
    _, ax = plt.subplots()
    label_axes(ax, "cost $a_1$", 7)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cost $a_1$", "7")
    assert not ax.xaxis.label.get_parse_math()
    plt.close()


def test_ticks_are_rotated_only_where_they_do_not_fit():
    for names, rotation in ((["K", "Mg"], 0), ([f"concentration {i}" for i in range(12)], 40)):
        figure, ax = plt.subplots(figsize=(4, 3))
        label_ticks(ax, range(len(names)), names)
        labels = ax.get_xticklabels()
        assert [label.get_text().replace("\n", " ") for label in labels] == names
        assert {label.get_rotation() for label in labels} == {rotation}
        plt.close(figure)
