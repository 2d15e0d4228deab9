"""The messages of problems and notes by their codes, and the remedies in Python's terms."""

# The message of each kind of problem or note. Values are shown quoted and with control characters escaped, but for
# {value!s}, which is only escaped.
MESSAGES = {
    # the file
    "no-file": "this is a folder, pipe or device, not a file",
    "cannot-open": "the file cannot be opened: {reason!s}",
    "damaged": "the {kind!s} file is damaged, truncated or encrypted, and cannot be opened: {reason!s}",
    "empty-file": "the file is empty",
    "old-excel": "this is an old or encrypted Excel file; save it as .xlsx without a password, or as CSV",
    "compressed": "the file is compressed; unpack it first",
    "no-table": "this is a document, picture or program, not a table; export the values as CSV",
    "model-file": "this is no table but a model saved by `fit`; apply it with `score`, the model first, then the table",
    "no-workbook": "the file is a ZIP archive but not an Excel workbook; unpack it, or save it as .xlsx",
    "xml-entities": "the Excel file defines XML entities in {member}, which is not allowed",
    "unpacked-size": "the Excel file unpacks to {size:,} MB, more than the {limit:,} MB allowed; save the table as CSV"
    " or Parquet",
    "large-part": "the Excel file has a part or a row that is too large for a table ({member}); save the table as CSV"
    " or Parquet",
    "empty-cells": "more than {limit:,} cells up to this row that are empty or beyond the header; delete the columns"
    " at the right and the rows below that hold nothing, or save the table as CSV",
    "library": "reading {kind!s} files needs {library!s}",
    "too-many-columns": "{n:,} columns are more than the {limit:,} allowed",
    "too-many-rows": "more than {n:,} rows: too large to read at once",
    "blank-rows": "more than {limit:,} blank rows up to this row; delete them, or save the table again",
    "wrong-byte": "byte 0x{byte!s} does not belong to a text in {encoding}",
    "wrong-end": "the end of the file does not belong to a text in {encoding}",
    "endless-line": "a row has more than 4,000,000 characters: an unclosed quotation mark, or not a table",
    "nul": "the cell contains a NUL byte: the file is damaged; export it again",
    "open-quote": "a quotation mark is opened and never closed; the rest of the file could not be read",
    "large-footer": "the Parquet file describes its columns and parts in {size:,} MB; write it with fewer, larger parts"
    " (row groups), or as CSV",
    "large-text": "the file holds {size:,} MB of text or more, most of it in this column; leave the column out",
    "long-cell": "a cell has more than 131,072 characters: an unclosed quotation mark, or not a table",
    "unreadable-row": "the row cannot be split into cells ({reason!s}); the rest of the file could not be read",
    # sheets
    "sheet-of-no-workbook": "sheet {sheet} was asked for, but this is no Excel workbook",
    "no-such-sheet": "there is no sheet {sheet}; there are {sheets}",
    "no-visible-sheet": "the workbook has no visible sheet with cells",
    "empty-sheet": "the sheet {sheet} is empty",
    "empty-first-sheet": "the sheet {sheet} is empty; others: {sheets}",
    "unreadable-sheet": "the sheet {sheet} cannot be read: {reason!s}",
    "row-number": "a sheet has at most {rows:,} rows and {columns:,} columns: the file is damaged",
    "formula-without-value": "{value} is a formula without a stored value; open the file in a spreadsheet program and"
    " save it, or save the values",
    "merged-cells": "cells are merged ({ranges!s}): which rows their label holds for is not certain; unmerge them and"
    " fill in every cell",
    # header and rows
    "no-header": "there is no header: the table is empty, or holds blank lines only",
    "no-rows": "there is a header but no row below it",
    "nul-in-header": "the header contains a NUL byte: the file is damaged; export it again",
    "header-of-numbers": "the first row holds numbers, not names; add a row of names above it",
    "header-levels": "the DataFrame has several levels of names; flatten them with reset_index or set_axis",
    "same-name": "columns {columns!s} have the same name; rename or remove all but one",
    "no-name": "column {number} has values but no name in the header",
    "row-length": "the row has {cells!s} but the header has {width}; is a delimiter inside a cell not quoted, or a cell"
    " missing? (the delimiter is {delimiter!s})",
    "row-too-long": "the row has {cells!s} but the header has {width}",
    "title": "the row has {cells!s} but the header has {width}, as have most other rows; are there lines above the"
    " row of names? Remove them",
    "header-row-of-frame": "header row {number} was asked for, but this table has its names apart",
    "summary-rows": "summaries ({words}), not measurements: {rows!s}; remove them",
    "unit-in-header": "the unit is {unit} here but {other} in the header; correct one of them",
    # columns
    "no-such-column": "there is no column {name}; there are {columns}",
    "no-such-columns": "there are no columns {names}; there are {columns}",
    "similar-column": "there is no column {name}; did you mean {similar}?",
    "column-twice": "the column {name} is named twice among the features",
    "feature-and-label": "the column {name} is named among the features and as the {role!s}",
    "role-twice": "the columns {columns} are all given as the {role!s}; only one can be",
    "several-labels": "the columns {columns} may all be the {role!s}; give one of them, or join their labels in one"
    " column",
    "label-or-measurement": "the whole numbers in this column may be labels or measurements",
    "no-measurement": "no column holds numbers to measure by (the delimiter is {delimiter!s}); the header is"
    " {header!s}",
    "no-numbers": "no column holds numbers to measure by (no cell is a number); the header is {header!s}",
    "no-delimiter": "no column holds numbers to measure by (no delimiter was found in the first row; columns must be"
    " separated by comma, semicolon, tab or bar); the header is {header!s}",
    "empty-label": "the {role!s} is empty in {rows!s}; fill it in",
    "empty-column": "the column is empty: no row has a value; fill it in, or leave the column out of the features",
    "duplicate-id": "the id {value} is already used in row {first}; make ids unique",
    "numbered-names": "names such as {names} may number replicates of one fragment, or fragments: with replicates taken"
    " for fragments, more fragments than stated are excluded",
    "nested-labels": "{value} in column {inner} has several labels here ({labels}), so it names several samples",
    "order": "{value} is neither a number nor a date such as 2024-05-06 10:30; correct it",
    # cells
    "not-a-number": "{value} is not a number",
    "true-or-false": "{value} is true or false, not a number",
    "date": "{value} is a date or time, not a number",
    "infinite": "{value} is not a value; correct the cell, or leave it empty if nothing was measured",
    "too-large": "{value} is too large for a computer's number; change the unit",
    "too-small": "{value} is too small for a computer's number; write 0 or change the unit",
    "formula": "{value} is a formula, which is never evaluated; save the values instead",
    "above-range": "{value} lies above the instrument's range; leave the row out or give its value",
    "spreadsheet-error": "{value} is a spreadsheet's error value; correct the formula behind it",
    "detection-limit": "{value} gives no detection limit that can be read; it must be a positive number",
    "unit-in-cell": "{value} carries a unit; put the unit in the header, such as 'Na (wt%)', and leave the bare number",
    "thousands": "{value} has a thousands separator; write the number without it",
    "other-mark": "{value} has a decimal {mark!s}, but this file's decimal mark is the {own!s}; write it as elsewhere",
    "thousands-or-other-mark": "{value} has a thousands separator or a decimal {mark!s}, but this file's decimal mark"
    " is the {own!s}; write it as elsewhere",
    "column-in-other-mark": "{value} has a decimal {mark!s}, but this file's decimal mark is the {own!s}; write it as"
    " elsewhere, or, if the column is no measurement, name the features to use",
    "decimal-mark": "{value} may mean {small!s} or {large!s}, and no other cell tells which; for {large!s} write it"
    " without the {mark!s}",
    "missing": "the value is missing; fill it in",
    "below-detection": "the value is below the detection limit; fill it in",
    "all-dropped": "every row has a missing value, so that dropping them leaves none",
    "nothing-measured": "no row has a measured value, so there is nothing to fill in",
    "unknown-limit": "values are below an unstated detection limit, and nothing tells it",
    "no-median": "values are missing and the control has none to take a median of",
    # two tables
    "nothing-in-common": "no variable in common: {here} here, {there} in {other!s}",
    "no-such-variable": "there is no variable {name}",
    "other-unit": "the unit is {unit} here but {other} in {there!s}; convert one of them",
    "other-type": "the column holds numbers in {other!s}, but here {others} of {n} values are none, the first: {value};"
    " correct them, or leave the variable out in both tables",
    "other-type-empty": "the column holds numbers in {other!s}, but is empty here; fill it in, or leave the variable"
    " out in both tables",
    "other-axis": "the positions of the spectra are in {unit!s}, those needed in {other!s}; convert them",
    "outside-axis": "the positions go from {low:g} to {high:g}, those needed from {first:g} to {last:g}; measure"
    " the whole range, or fit to a range that both have",
    "coarse-axis": "the positions are {step:g} apart, those needed {other:g}; measure at steps as small, or fit again"
    " to spectra at the larger steps",
    "gap-in-axis": "the positions between {low:g} and {high:g} are missing, in a gap too wide to interpolate across;"
    " measure them, or fit without them",
    "transposed": "the rows are variables ({names}) and the columns are samples ({samples}); transpose the table, so"
    " that each sample has one row",
    "long-table-sparse": "{rows:,} rows name {samples:,} samples and {variables:,} variables, so that most values would"
    " be missing; is this the column of variables? Otherwise give the table a column per variable",
    "long-table-twice": "{name} of {label} has a value already, in row {first}; remove one, or number the replicates in"
    " a column",
    "long-table-unclear": "the column names elements, as in a table of one value per row, but several columns hold"
    " numbers ({columns}); name the one to use among the features, or give a table with one column per element",
    # notes
    "resampled": "spectra at {n} positions from {low:g} to {high:g}, interpolated to the {m} positions from {first:g}"
    " to {last:g} that they are compared at",
    "coarser": "spectra at {n} positions from {low:g} to {high:g}, farther apart than those of the known spectra, which"
    " are interpolated to them and compared there",
    "missing-bands": "{n} of {m} positions are missing ({bands!s}); the others are compared",
    "long-table": "a table of one value per row: the values of {value} became one column for each {name}: {columns}",
    "unused-uncertainty": "not used: taken for the uncertainty or detection limit of {variable}; name it among the"
    " features to measure by it",
    "role": "taken for the {role!s}",
    "unit": "unit {unit}",
    "units-row": "taken for the units",
    "encoding": "the file is not UTF-8; it was read as {encoding!s}",
    "sheet": "the sheet {sheet} was read, as was asked",
    "sheets-not-read": "the sheet {sheet} was read; not read: {sheets}",
    "decimal-given": "read with the {mark!s} as decimal mark, as was asked",
    "unused-index": "the index of the DataFrame repeats labels and is not used; give it a name such as 'fragment' to"
    " use it",
    "unused-class": "not used: classes, not names of samples ({n} different in {rows} spectra)",
    "numbered-replicates": "the numbers in the names count replicates, as was said: {names}",
    "unused-empty": "not used: the column is empty",
    "unused-label": "not used: taken for a label; name it among the features to measure by it",
    "unused-text": "not used as a variable: {others} of its {n} values are not numbers, the first: {value}",
    "unused-absent": "not used: {other!s} has no such column",
    "unused-similar": "not used: {other!s} has no such column; is it {similar} there? Then give both the same name",
    "summary-rows-dropped": "left out as summaries ({words}), not measurements: {rows!s}",
    "dropped": "{value} left out: {reason!s}",
    "imputed-limit": "{n} below detection, replaced by half the limit ({rows!s})",
    "imputed-median": "{n} missing, replaced by the control's median {median:.6g} ({rows!s})",
}  # fmt: skip

# What a Python user can do about it. `transvariation.report.wording` has the same for the command line and the page.
_DECIMAL = 'if the {mark!s} is the decimal mark, give decimal="{sign!s}"'
REMEDIES = {
    "drop-or-impute": 'choose missing="drop" or missing="impute"',
    "drop": 'choose missing="drop"',
    "impute": 'try missing="impute"',
    "drop-summary-rows": "choose drop_summary_rows=True",
    "fragment-column": "for replicates of one sample give fragment_column={column}",
    "give-role": "give its role, such as roles={{{column}: 'fragment'}}, 'replicate', 'ignore' or 'measurement'",
    "source-role": "give source_column={column}, or roles={{{column}: 'ignore'}} if the numbers do not start again",
    "give-decimal": _DECIMAL,
    "give-decimal-control": f"{_DECIMAL} in the TableSettings of the control table",
    "give-decimal-recovered": f"{_DECIMAL} in the TableSettings of the recovered table",
    "name-sheet": "name the sheet to read (sheet=), or move it to the front",
    "name-encoding": "save the file as UTF-8, or name its encoding (encoding=)",
    "read-chunks": "read it in blocks (read_chunks), or raise limits=Limits(...)",
    "header-row": "give header_row={row!s}",
    "header-row-control": "give header_row={row!s} in the TableSettings of the control table",
    "header-row-recovered": "give header_row={row!s} in the TableSettings of the recovered table",
    "numbered-names": 'give numbered_names="replicates" or numbered_names="fragments"',
    "install": "pip install {packages!s}",
}
