"""The routes of the local page."""

import asyncio
import base64
import json
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from transvariation.web.guard import Guard
from transvariation.web.workers import POLL, Cancelled, WorkError, failure, work

KINDS = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "zip": "application/zip",
}
SCRIPTS = ("app", "axes", "base", "case", "figures", "plane", "reasons", "spectra", "tables", "variables")
STATIC = {f"{name}.js": "text/javascript; charset=utf-8" for name in SCRIPTS} | {"app.css": "text/css; charset=utf-8"}
JOBS = "transvariation.web.work"
# Parameters of what the page asks of a judged case, besides the sensitivity.
VIEWS = {"view": (), "points": ("x", "y"), "evidence": ("fragment",), "spectra": (), "figure": ("kind",)}
# What the page asks when it has tables judged, and of which kind each value is, in words.
OPTIONS = {
    "method": "a name",
    "reduce": "a name",
    "reduce_to": "a whole number",
    "preprocess": "a text",
    "features": "a list of names",
    "ranges": "a list of pairs of numbers",
    "sensitivity": "a number",
    "case": "texts by their names",
}
MISSING = ("error", "drop", "impute")
TABLES = ("control", "recovered")
BACKGROUNDS = (None, "file", "nfi", "foreign")  # foreign: the third table holds known foreign samples
DECIMALS = (None, ",", ".")  # None: recognised
COLUMN_ROLES = ("source", "fragment", "replicate", "order", "id", "measurement", "ignore")
SCALES = (None, "log", "logged")  # measurements as they are, to take logarithms of, or logarithms already
BOTH = (None, None)
UNREADABLE = "The request could not be read; reload the page."
STARTING = "starting", 0.0
AS_READ = {
    "missing": "error",
    "drop_summary_rows": False,
    "decimals": BOTH,
    "sheets": BOTH,
    "roles": BOTH,
    "log": False,
    "logged": False,
    "background": None,
}


@dataclass(frozen=True)
class Limits:
    """Limits of what a user may ask of the page."""

    max_bytes: int = 64 * 2**20
    read_seconds: float = 60
    fit_seconds: float = 600
    memory: int = 6 * 2**30
    cases: int = 8
    at_once: int = 2  # fits; as many workers again for quick jobs


@dataclass
class Case:
    """Uploaded tables and their result. Cases are kept in memory, the newest ones only."""

    files: list[tuple[str, bytes]] | None  # None: the packaged example
    reading: dict[str, Any]  # how the tables were read; they are judged in the same way
    waiting: bool = False
    step: tuple[str, float | None] = STARTING  # reported by the worker: what it does, and the share done before
    started: float = 0
    stopped: bool = False
    task: "asyncio.Task[None] | None" = None
    result: dict[str, Any] | None = None
    shown: dict[str, Any] | None = None  # what the views need of it
    problems: list[dict[str, Any]] = field(default_factory=list)

    def state(self) -> dict[str, Any]:
        """Return the state of the job."""
        if self.task is not None and not self.task.done():
            seconds = round(time.monotonic() - self.started, 1)
            step, done = ("waiting for another case", 0.0) if self.waiting else self.step
            return {"state": "running", "step": step, "done": done, "seconds": seconds}
        if self.result is not None:
            return {"state": "done"}
        return {"state": "cancelled" if self.stopped else "failed", "problems": self.problems}


class Page:
    """The cases in memory, and the responses to requests."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.cases: OrderedDict[str, Case] = OrderedDict()
        self.fits = asyncio.Semaphore(limits.at_once)
        self.quick = asyncio.Semaphore(limits.at_once)  # long fits never keep others from loading their tables

    async def index(self, request: Request) -> Response:
        """Return the page, with the token that its requests must carry."""
        text = (files("transvariation.web") / "templates" / "index.html").read_text(encoding="utf-8")
        filled = text.replace("{{ csrf }}", request.scope["csrf"])
        return HTMLResponse(filled.replace("{{ max_bytes }}", str(self.limits.max_bytes)))

    async def static(self, request: Request) -> Response:
        """Return a script or style sheet by name; no other path is ever opened."""
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("There is no such file.", 404)
        content = (files("transvariation.web") / "static" / name).read_bytes()
        return Response(content, headers={"content-type": STATIC[name]})

    async def upload(self, request: Request) -> Response:
        """Take the tables; return what was understood of control and recovered."""
        parser = MultiPartParser(request.headers, request.stream(), max_files=3, max_fields=12)
        parser.spool_max_size = self.limits.max_bytes + 1  # in memory: no temporary file ever holds a table
        try:
            async with asyncio.timeout(self.limits.read_seconds):
                form = await parser.parse()
        except TimeoutError:
            raise failure("The upload took too long and was stopped; try again with smaller tables.", 408) from None
        except (MultiPartException, KeyError, ValueError):
            raise failure("The upload could not be read; reload the page and choose the tables again.") from None
        uploaded = [file for role in (*TABLES, "background") if isinstance(file := form.get(role), UploadFile)]
        tables = [(_name(file.filename), await file.read()) for file in uploaded if file.filename]
        await form.close()
        reading = _reading(form)
        if not all(isinstance(form.get(role), UploadFile) for role in TABLES) or len(tables) < 2:
            raise failure("Choose both tables: control and recovered.")
        third = {"file": "background", "foreign": "foreign"}.get(reading["background"])
        if third and len(tables) < 3:
            raise failure(f"Choose the {third} table, or none.")
        return await self._understood(Case(tables, reading))

    async def example(self, request: Request) -> Response:
        """Take the packaged glass as the two tables."""
        return await self._understood(Case(None, AS_READ))

    async def _understood(self, case: Case) -> Response:
        seen = await self._quick("understand", case.files, case.reading)
        if "problems" in seen:
            return JSONResponse(seen, 422)
        name = secrets.token_urlsafe(12)
        self.cases[name] = case
        while len(self.cases) > self.limits.cases:
            _, oldest = self.cases.popitem(last=False)
            oldest.stopped = True
        return JSONResponse({"case": name, **seen})

    async def _quick(self, job: str, *arguments: Any) -> Any:
        async with self.quick:
            return await work(f"{JOBS}:{job}", *arguments, seconds=self.limits.read_seconds, memory=self.limits.memory)

    def _case(self, request: Request) -> Case:
        case = self.cases.get(request.path_params["case"])
        if case is None:
            raise failure("These tables are no longer here; load them again.", 404)
        return case

    async def judge(self, request: Request) -> Response:
        """Start judging a case; the page then polls its state."""
        case = self._case(request)
        options = await _options(request)
        await self._stop(case)
        case.stopped, case.result, case.problems = False, None, []
        case.step, case.started = STARTING, time.monotonic()
        case.task = asyncio.create_task(self._judge(case, options))
        return JSONResponse(case.state(), 202)

    async def _judge(self, case: Case, options: dict[str, Any]) -> None:
        def report(step: str, share: float | None) -> None:
            case.step = step, share

        try:
            case.waiting = True
            while self.fits.locked():  # a waiting job can still be cancelled
                if case.stopped:
                    raise Cancelled
                await asyncio.sleep(POLL)
            async with self.fits:
                case.waiting = False
                found = await work(
                    f"{JOBS}:decide",
                    case.files,
                    case.reading,
                    options,
                    seconds=self.limits.fit_seconds,
                    memory=self.limits.memory,
                    stopped=lambda: case.stopped,
                    progress=report,
                )
                case.result, case.shown = found["case"], found["shown"] or found["case"]
        except WorkError as error:
            case.problems = error.problems
        except Cancelled:
            case.stopped = True
        except Exception:
            case.problems = [{"message": "An unexpected error occurred; please report it, and try another method."}]
            raise  # shown in the terminal

    @staticmethod
    async def _stop(case: Case) -> None:
        if case.task is not None and not case.task.done():
            case.stopped = True
            await asyncio.wait([case.task])

    async def state(self, request: Request) -> Response:
        """Return the state of a case."""
        return JSONResponse(self._case(request).state())

    async def cancel(self, request: Request) -> Response:
        """Stop judging a case."""
        case = self._case(request)
        await self._stop(case)
        return JSONResponse(case.state())

    async def preview(self, request: Request) -> Response:
        """Return the spectra before and after a choice of ranges and preprocessing."""
        case = self._case(request)
        asked = await _options(request)
        how = {name: asked.get(name) for name in ("features", "ranges", "preprocess")}
        return JSONResponse(await self._quick("preview_spectra", case.files, case.reading, how))

    async def view(self, request: Request) -> Response:
        """Return a view of the result at a sensitivity: the conclusions, the points of the figure, the evidence."""
        name = request.path_params["view"]
        if name not in VIEWS:
            raise failure(f"There is no view {name!r}.", 404)
        return JSONResponse(await self._at(request, name, *(request.query_params.get(key, "") for key in VIEWS[name])))

    async def download(self, request: Request) -> Response:
        """Return the result at a sensitivity as a file."""
        kind = request.path_params["kind"]
        if kind not in KINDS:
            raise failure(f"There is no file of the kind {kind!r}.", 404)
        content = await self._at(request, "render", kind)
        headers = {
            "content-type": KINDS[kind],
            "content-disposition": f'attachment; filename="transvariation-case.{kind}"',
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        }
        return Response(base64.b64decode(content), headers=headers)

    async def _at(self, request: Request, job: str, *arguments: Any) -> Any:
        """Run a job on the result of a case at the sensitivity of the query."""
        case = self._case(request)
        if case.result is None:
            raise failure("There is no result yet.", 404)
        try:
            sensitivity = float(request.query_params.get("sensitivity", case.result["model"]["sensitivity"]))
        except ValueError:
            raise failure("The sensitivity must be a number such as 0.9.") from None
        return await self._quick(job, case.result if job == "render" else case.shown, *arguments, sensitivity)


async def _failed(request: Request, error: Exception) -> Response:
    """Return the reasons for which a request could not be fulfilled."""
    return JSONResponse({"problems": error.problems}, error.status)  # type: ignore[attr-defined]


async def _options(request: Request) -> dict[str, Any]:
    """Read the options of a case; a value of the wrong kind is refused before any worker sees it."""
    try:
        asked = await request.json()
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise failure(UNREADABLE, 400)
    given = {name: asked[name] for name in OPTIONS if asked.get(name) not in (None, "")}
    wrong = [name for name, value in given.items() if not _is(value, OPTIONS[name])]
    if wrong:
        problems = ({"message": f"{name}={given[name]!r:.60} is not {OPTIONS[name]}."} for name in wrong)
        raise WorkError(*problems, status=400)
    return given


def _is(value: Any, kind: str) -> bool:
    def number(each: Any) -> bool:
        return isinstance(each, int | float) and not isinstance(each, bool)

    def pair(each: Any) -> bool:
        return isinstance(each, list) and len(each) == 2 and all(map(number, each))

    def text(each: Any) -> bool:
        return isinstance(each, str)

    match kind:
        case "a number":
            return number(value)
        case "a whole number":
            return number(value) and isinstance(value, int)
        case "a list of names":
            return isinstance(value, list) and all(map(text, value))
        case "a list of pairs of numbers":
            return isinstance(value, list) and all(map(pair, value))
        case "texts by their names":
            return isinstance(value, dict) and all(map(text, value.values()))
    return text(value)


def _reading(form: FormData) -> dict[str, Any]:
    """Read how the tables are to be read; an empty field leaves the choice to the program."""

    def field(name: str, allowed: tuple[str | None, ...], words: str) -> str | None:
        value = str(form.get(name) or "") or None
        if value not in allowed:
            raise failure(f"{name}={value!r} is unknown; {words}.")
        return value

    decimals = tuple(field(f"{table}-decimal", DECIMALS, "choose the comma or the point") for table in TABLES)
    sheets = tuple(str(form.get(f"{table}-sheet") or "") or None for table in TABLES)
    scale = field("scale", SCALES, "choose the measurements as they are, log or logged")
    return {
        "missing": field("missing", (None, *MISSING), f"choose one of {', '.join(MISSING)}") or "error",
        "drop_summary_rows": bool(form.get("drop_summary_rows")),
        "decimals": decimals,
        "sheets": sheets,
        "roles": tuple(_roles(form, table) for table in TABLES),
        "log": scale == "log",
        "logged": scale == "logged",
        "background": field("background-kind", BACKGROUNDS, "choose no background, a file, NFI or foreign samples"),
    }


def _roles(form: FormData, table: str) -> dict[str, str] | None:
    """Read the roles of columns that the user set."""
    try:
        roles = json.loads(str(form.get(f"{table}-roles") or "{}"))
    except json.JSONDecodeError:
        roles = None
    if not isinstance(roles, dict) or not set(map(str, roles.values())) <= set(COLUMN_ROLES):
        raise failure(f"The roles of the {table} table could not be read; reload the page.")
    return roles or None


def _name(name: str | None) -> str:
    """Return the name of a file without folders; it is shown, never opened."""
    return (name or "table").replace("\\", "/").rsplit("/", 1)[-1][:120]


def make_app(token: str, port: int, limits: Limits | None = None) -> Guard:
    """Build the application behind its guard."""
    limits = limits or Limits()
    page = Page(limits)
    routes = [
        Route("/", page.index),
        Route("/static/{name}", page.static),
        Route("/api/tables", page.upload, methods=["POST"]),
        Route("/api/example", page.example, methods=["POST"]),
        Route("/api/cases/{case}/judge", page.judge, methods=["POST"]),
        Route("/api/cases/{case}/cancel", page.cancel, methods=["POST"]),
        Route("/api/cases/{case}", page.state),
        Route("/api/cases/{case}/preview", page.preview, methods=["POST"]),
        Route("/api/cases/{case}/file.{kind}", page.download),
        Route("/api/cases/{case}/{view}", page.view),
    ]
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    app = Starlette(routes=routes, exception_handlers={WorkError: _failed})
    return Guard(app, token=token, hosts=hosts, max_bytes=limits.max_bytes)
