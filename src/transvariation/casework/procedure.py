"""A laboratory's procedure: a TOML file that fixes how cases are judged, so that nothing is chosen after looking."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from transvariation.casework.errors import CaseError
from transvariation.casework.result import CaseResult
from transvariation.casework.settings import CaseSettings
from transvariation.tables.options import options_of

CHOSEN = ("variables", "comparison")  # groups of settings that a procedure fixes, whether it names them or not


@dataclass(frozen=True)
class Procedure:
    """Fixed settings, and the background that goes with them."""

    name: str  # of the file
    sha256: str
    # Fields of `CaseSettings`. Those of variables and comparison that are not named have their defaults.
    fixed: Mapping[str, object]
    background: Path | str | None = None  # the only one that may be used

    @classmethod
    def read(cls, path: str | Path) -> "Procedure":
        """Read a procedure.

        Parameters
        ----------
        path : path
            A TOML file with a setting per line, and perhaps ``background``, a file beside it, and its
            ``background_sha256``.
        """
        path = Path(path)
        content = path.read_bytes()
        try:
            given = tomllib.loads(content.decode("utf-8-sig"))
        except ValueError as error:
            raise CaseError("procedure-file", file=path, reason=error) from None
        background, sha256 = given.pop("background", None), given.pop("background_sha256", None)
        known = [name for name in options_of(CaseSettings) if name != "case"]
        if unknown := [name for name in given if name not in known]:
            there = ", ".join(["background", "background_sha256", *known])
            raise CaseError("procedure-setting", file=path.name, name=unknown[0], there=there)
        CaseSettings.build(None, given)  # wrong values are named
        if background is not None and background != "nfi":
            background = path.parent / background
            if not background.is_file():
                raise CaseError("procedure-background", file=path.name, background=background)
        if sha256 is not None and (
            not isinstance(background, Path) or hashlib.sha256(background.read_bytes()).hexdigest() != sha256
        ):
            raise CaseError("procedure-changed", file=path.name, background=background or "its background")
        return cls(path.name, hashlib.sha256(content).hexdigest(), given, background)

    def settings(self, given: Mapping[str, object], settings: CaseSettings | None = None) -> CaseSettings:
        """Build the settings of a case; what is fixed cannot be given otherwise.

        Those of tables and report may be given, or the same as the procedure has; `given` replaces fields of
        `settings`.
        """
        if settings is not None:
            plain = CaseSettings()
            own = {name: getattr(settings, name) for name in options_of(CaseSettings)}
            given = {name: value for name, value in own.items() if value != getattr(plain, name)} | dict(given)
        fixed = CaseSettings.build(None, self.fixed)
        wanted = CaseSettings.build(None, given)
        for name, option in options_of(CaseSettings).items():
            is_fixed = name in self.fixed or option.group in CHOSEN
            if name in given and is_fixed and getattr(wanted, name) != getattr(fixed, name):
                value = getattr(fixed, name) if name in self.fixed else "its default"
                raise CaseError("fixed-setting", file=self.name, name=name, value=value)
        return CaseSettings.build(None, {**given, **self.fixed})

    def background_of(self, given: object) -> Path | str | None:
        """Return the background of the procedure, and refuse another one."""
        same = given == self.background or (
            isinstance(given, str | Path)
            and isinstance(self.background, Path)
            and Path(given).resolve() == self.background.resolve()
        )
        if given is not None and not same:
            raise CaseError("fixed-setting", file=self.name, name="background", value=str(self.background))
        return self.background

    def recorded(self, result: CaseResult) -> CaseResult:
        """Name the procedure in a result."""
        named = result.provenance | {"procedure": f"{self.name}, SHA-256 {self.sha256}"}
        return replace(result, provenance=named, cases=tuple(map(self.recorded, result.cases)))
