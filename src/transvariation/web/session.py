"""A case in its worker process: its tables are read once, judged, and shown at any sensitivity."""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from transvariation._typing import Fields
from transvariation.casework import CaseError, CaseResult, CaseSettings
from transvariation.casework.audit import case_errors
from transvariation.casework.checks import duplicate_cautions
from transvariation.casework.judging import judge_tables
from transvariation.casework.progress import Progress, ProgressStep
from transvariation.casework.reading import CaseTables, read_case
from transvariation.casework.settings import TABLES_OF_CASE, words_for
from transvariation.casework.variables import preprocessing_for, select_ranges, spectral_axis
from transvariation.report.demo import demo_files
from transvariation.report.vocabulary import said, speaking, speaking_of, spoken
from transvariation.report.wording.cautions import caution_text
from transvariation.report.wording.remedies import error_text, problem_text, refusal
from transvariation.tables import Limits, Table, TableError, read_table
from transvariation.tables.opening import HeldGrid, hold
from transvariation.tables.options import options_of
from transvariation.web.analyses import ANALYSES, Analysis
from transvariation.web.preview import AXIS_NAME, problem_dict, segments, sheets, show_problems, show_table, some
from transvariation.web.views import VIEWS, matrix

# A browser shows all of this at once: less than the command line takes.
LIMITS = Limits(rows=50_000, columns=10_000, cells=500_000, unpacked=100_000_000)
FEW_POSITIONS = 40  # positions of a spectrum that can be chosen one by one
MAX_PROBLEMS = 200
EXAMPLE = {"control": "windows.csv", "recovered": "recovered.csv"}  # the tables of the demonstration


class Session:
    """The tables of a case and its result, at the sensitivity that was asked for last."""

    def __init__(self, progress: Progress):
        self.progress = progress
        self.sources: Fields = {}
        self.names: dict[str, str] = {}
        self.held: dict[str, tuple[object, HeldGrid | None]] = {}  # how the file was opened, and its cells
        self.tables: list[tuple[dict[str, object], CaseTables]] = []  # with the settings by which they were read
        self.judged: CaseResult | None = None
        self.source = 0  # the control source that is shown, of several
        self.prepared: Analysis | None = None
        self.analyzed: Fields = {}
        self.result: CaseResult | None = None
        self.saved = ""  # the file that the case was opened from

    def load(self, files: dict[str, dict[str, str]]) -> None:
        """Take the files of a case by their part in it; one without content is packaged."""
        self.sources = {
            which: base64.b64decode(file["content"]) if "content" in file else file["name"]
            for which, file in files.items()
        }
        self.names = {which: file["name"] for which, file in files.items() if "content" in file}
        self.held = {}
        if self.names.get("control") == self.names.get("recovered"):
            self.names |= {which: f"{self.names[which]} ({which})" for which in ("control", "recovered")}

    def example(self) -> dict[str, dict[str, str]]:
        """Return the files of the demonstration, as `load` takes them."""
        files = demo_files()
        return {
            which: {"name": name, "content": base64.b64encode(files[name]).decode()} for which, name in EXAMPLE.items()
        }

    def prepare(self, kind: str, files: dict[str, dict[str, str]], options: Mapping[str, object]) -> str:
        """Take the files and options of an analysis; say what they are."""
        described, self.prepared = ANALYSES[kind](files, options, LIMITS)
        return described

    def analyze(self, options: object) -> None:
        """Do the analysis that was prepared."""
        if self.prepared is None:
            raise ValueError(refusal("no-analysis"))
        self.analyzed = self.prepared(self.progress)

    def analysis(self) -> Fields:
        """Return what the page shows of the analysis."""
        return self.analyzed

    def open(self, file: dict[str, str]) -> None:
        """Take a case that was saved as JSON."""
        self.saved = file["name"]
        with case_errors(self.saved, ValueError):
            self.judged = self.result = CaseResult.from_dict(json.loads(base64.b64decode(file["content"])))

    def check(self, content: Mapping[str, object]) -> None:
        """Refuse wrong settings."""
        CaseSettings.from_dict(content)

    def read(self, content: Mapping[str, object]) -> Fields:
        """Read the tables; return what was understood, or the problems and where they are."""
        settings = CaseSettings.from_dict(content)
        self.tables = []
        contents = {which: self.sources[which] for which in self.names}
        seen = {"files": self.names, "sheets": {which: sheets(each, LIMITS) for which, each in contents.items()}}
        try:
            return seen | self._understood(settings)
        except TableError as error:
            tables = {
                which: show_problems(each, self.names[which], error.problems, LIMITS, settings.of_table(which))
                for which, each in contents.items()
            }
            return seen | {"problems": [problem_dict(each) for each in error.problems[:MAX_PROBLEMS]], "tables": tables}

    def _understood(self, settings: CaseSettings) -> dict[str, object]:
        shown: dict[str, Table] = {}
        doubts: list[str] = []
        try:
            tables = self._read(settings)
        except (TableError, CaseError) as error:
            # The third table may still fit fewer variables or other roles, if it can be read and the others are sound.
            further = [which for which in ("background", "foreign") if which in self.sources]
            if not further:
                raise
            tables = self._read(settings, further)
            for alone in (which for which in further if which in self.names):
                how = settings.of_table(alone)
                shown[alone] = read_table(self._source(alone, settings), settings=how, missing="keep", limits=LIMITS)
            found = error.problems if isinstance(error, TableError) else []
            doubts = [problem_text(each, "page") for each in found] or [error_text(error, "page")]
        for which in TABLES_OF_CASE:
            table = getattr(tables, f"{which}_table")
            if table is not None:
                shown[which] = table
        axis, equal = spectral_axis(tables.features), duplicate_cautions(tables.control_table, tables.recovered_table)
        with self._speaking(settings, tables):
            return {
                "words": words_for(settings, axis is not None),
                "features": list(tables.features) if axis is None or len(axis) <= FEW_POSITIONS else [],
                "axis": None if axis is None else [float(axis.min()), float(axis.max())],
                "tables": {which: show_table(each, which, spectral=axis is not None) for which, each in shown.items()},
                "warnings": spoken([*(caution_text(each, settings) for each in equal), *doubts]),
            }

    def _speaking(self, settings: CaseSettings, tables: CaseTables) -> AbstractContextManager[None]:
        """Speak in the vocabulary of the tables; their names and those of their columns stay."""
        columns = {*tables.control_table.roles, *tables.recovered_table.roles}
        return speaking_of(words_for(settings, tables.axis is not None), {*self.names.values(), *columns})

    def _read(self, settings: CaseSettings, left_out: Sequence[str] = ()) -> CaseTables:
        """Read the tables of the case, unless they were read with the same settings."""
        given = options_of(CaseSettings).items()
        how = {name: getattr(settings, name) for name, option in given if option.group in ("tables", "variables")}
        how["left_out"] = list(left_out)
        for known, tables in self.tables:
            if known == how:
                return tables
        sources = {which: self._source(which, settings) for which in self.sources if which not in left_out}
        own = {which: each for which, each in settings.tables.items() if which not in left_out}
        tables = read_case(sources, replace(settings, tables=own), LIMITS)
        self.tables = [*self.tables[:1], (how, tables)]  # all variables for the preview, and those that are judged
        return tables

    def _source(self, which: str, settings: CaseSettings) -> Any:  # noqa: ANN401  # as `judge` takes it
        """Return the cells of a file, which is opened once, or the file; the name of a packaged table."""
        if which not in self.names:
            return self.sources[which]
        file = io.BytesIO(self.sources[which])
        file.name = self.names[which]
        how = settings.of_table(which)
        opened = how.sheet, how.header_row, how.decimal, how.delimiter, how.encoding  # the others are for the cells
        if which not in self.held or self.held[which][0] != opened:
            self.held[which] = opened, hold(file, LIMITS, how)
        return self.held[which][1] or file

    def preview(self, content: Mapping[str, object]) -> Fields:
        """Return the spectra as they were read, and after preprocessing of the chosen variables, as `judge` does it."""
        chosen = CaseSettings.from_dict(content)
        (_, tables), *_ = self.tables
        axis = spectral_axis(tables.features)
        if axis is None:
            raise ValueError(refusal("no-spectrum"))
        inside = set(select_ranges(tables.features, chosen.ranges) if chosen.ranges else tables.features)
        wanted = inside.intersection(chosen.features or tables.features)
        kept = np.array([name in wanted for name in tables.features])
        known, new = tables.control.means, tables.recovered.means
        before = np.vstack([known[some(len(known))], new[some(len(new))]])
        after = None
        if chosen.steps is not None:
            preprocessing = preprocessing_for(chosen.steps, list(compress(tables.features, kept))).fit(known[:, kept])
            after = segments(axis[kept], preprocessing.transform(before[:, kept]))
        n, m = len(some(len(known))), len(some(len(new)))
        with self._speaking(chosen, tables):
            drawn = said(f"{n} of {len(known)} control and {m} of {len(new)} recovered spectra")
        return {
            "kinds": ["control"] * n + ["recovered"] * m,
            "words": f"{kept.sum()} of {len(kept)} variables. Drawn: {drawn}.",
            "names": {"before": [AXIS_NAME, "as read"], "after": [AXIS_NAME, "preprocessed"]},
            "before": segments(axis, before),
            "after": after,
        }

    def judge(self, content: Mapping[str, object]) -> None:
        """Judge the case."""
        settings = CaseSettings.from_dict(content)
        self.progress(ProgressStep("reading"), 0.0)
        tables = self._read(settings)
        self.judged = self.result = judge_tables(
            tables, settings, progress=self.progress, command="transvariation serve"
        )

    @property
    def _judged(self) -> CaseResult:
        if self.judged is None:
            raise ValueError(refusal("no-result"))
        return self.judged

    def at(self, sensitivity: float | None) -> CaseResult:
        """Return the result at a sensitivity, as judged by default."""
        wanted = self._judged.model.sensitivity if sensitivity is None else sensitivity
        if self.result is None or wanted != self.result.model.sensitivity:
            self.result = self._judged.at(wanted)
        return self.result

    def show(self, name: str, sensitivity: float | None, *arguments: str) -> Fields:
        """Return a view of the result: a function of `transvariation.web.views`.

        Of several control sources, the one that was chosen by the last `view` is shown.
        """
        with case_errors(self.saved) if self.saved else nullcontext():
            result = self.at(sensitivity)
            with speaking(result):
                if name == "save":
                    return VIEWS[name](result, *arguments)
                return spoken(self._shown(name, result, *arguments))

    def _shown(self, name: str, result: CaseResult, *arguments: str) -> Fields:
        if not result.cases:
            return VIEWS[name](result, *(() if name == "view" else arguments))
        if name == "view":
            (chosen,) = arguments or ("",)
            numbers = list(map(str, range(len(result.cases))))
            if chosen and chosen not in numbers:
                raise ValueError(refusal("no-source", source=chosen, last=numbers[-1]))
            self.source = int(chosen or 0)
            return VIEWS["view"](result.cases[self.source]) | matrix(result, self.source)
        return VIEWS[name](result.cases[self.source], *arguments)
