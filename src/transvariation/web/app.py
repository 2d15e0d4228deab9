"""The routes of the local page."""

import asyncio
import base64
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
from transvariation.web.workers import POLL, Cancelled, WorkError, work

KINDS = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}
SCRIPTS = ("app.js", "axes.js", "base.js", "plane.js", "reasons.js", "tables.js", "verdict.js")
STATIC = dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8") | {"app.css": "text/css; charset=utf-8"}
UNDERSTAND, DECIDE, RENDER = (f"transvariation.web.work:{name}" for name in ("understand", "decide", "render"))
OPTIONS = ("method", "reduce", "features", "sensitivity")
MISSING = ("error", "drop", "impute")
ROLES = ("control", "recovered")
DECIMALS = (None, ",", ".")  # the first: recognised
AS_IT_COMES = {"missing": "error", "decimals": (None, None), "sheets": (None, None)}


@dataclass(frozen=True)
class Limits:
    """What one person may ask of the page."""

    max_bytes: int = 64 * 2**20
    read_seconds: float = 60
    fit_seconds: float = 600
    memory: int = 6 * 2**30
    cases: int = 8
    at_once: int = 2  # fits, and as many workers again for what is quick


@dataclass
class Case:
    """Two uploaded tables, and what was made of them. Kept in memory only, and only while among the newest."""

    files: list[tuple[str, bytes]] | None  # None is the packaged example
    reading: dict[str, Any]  # judged as they were read, whatever is chosen since
    waiting: bool = False
    started: float = 0
    stopped: bool = False
    task: "asyncio.Task[None] | None" = None
    result: dict[str, Any] | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)

    def state(self) -> dict[str, Any]:
        """Say how the judging goes."""
        if self.task is not None and not self.task.done():
            seconds = round(time.monotonic() - self.started, 1)
            return {"state": "running", "waiting": self.waiting, "seconds": seconds}
        if self.result is not None:
            return {"state": "done", "result": self.result}
        return {"state": "cancelled" if self.stopped else "failed", "problems": self.problems}


class Page:
    """The page's memory and its answers."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.cases: OrderedDict[str, Case] = OrderedDict()
        self.fits = asyncio.Semaphore(limits.at_once)
        self.quick = asyncio.Semaphore(limits.at_once)  # long fits never keep others from loading their tables

    async def index(self, request: Request) -> Response:
        """Give the page itself, with the secret that its requests must carry."""
        text = (files("transvariation.web") / "templates" / "index.html").read_text(encoding="utf-8")
        filled = text.replace("{{ csrf }}", request.scope["csrf"])
        return HTMLResponse(filled.replace("{{ max_bytes }}", str(self.limits.max_bytes)))

    async def static(self, request: Request) -> Response:
        """Give the page's own script and style, by name; no path from outside is ever opened."""
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("There is no such file.", 404)
        content = (files("transvariation.web") / "static" / name).read_bytes()
        return Response(content, headers={"content-type": STATIC[name]})

    async def upload(self, request: Request) -> Response:
        """Take two tables, say what was understood of them."""
        parser = MultiPartParser(request.headers, request.stream(), max_files=2, max_fields=5)
        parser.spool_max_size = self.limits.max_bytes + 1  # in memory, so that no temporary file ever holds a table
        try:
            async with asyncio.timeout(self.limits.read_seconds):
                form = await parser.parse()
        except TimeoutError:
            return _problem("The upload took too long and was broken off; try again with smaller tables.", 408)
        except (MultiPartException, KeyError, ValueError):
            return _problem("The upload could not be read; reload the page and choose the tables again.")
        given = [form.get(role) for role in ROLES]
        tables = [(_name(file.filename), await file.read()) for file in given if isinstance(file, UploadFile)]
        reading = _reading(form)
        await form.close()
        if len(tables) < 2:
            return _problem("Choose both tables: control and recovered.")
        for decimal in reading["decimals"]:
            if decimal not in DECIMALS:
                return _problem(f"decimal={decimal!r} is unknown; choose the comma or the point.")
        if reading["missing"] not in MISSING:
            return _problem(f"missing={reading['missing']!r} is unknown; choose one of {', '.join(MISSING)}.")
        return await self._understood(Case(tables, reading))

    async def example(self, request: Request) -> Response:
        """Take the packaged glass fragments as the two tables."""
        return await self._understood(Case(None, AS_IT_COMES))

    async def _understood(self, case: Case) -> Response:
        try:
            seen = await self._quick(UNDERSTAND, case.files, case.reading)
        except WorkError as error:
            return JSONResponse({"problems": error.problems}, 422)
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
            return await work(job, *arguments, seconds=self.limits.read_seconds, memory=self.limits.memory)

    def _case(self, request: Request) -> Case | None:
        return self.cases.get(request.path_params["case"])

    async def judge(self, request: Request) -> Response:
        """Begin to judge a case; the page then asks how it goes."""
        case = self._case(request)
        if case is None:
            return _problem("These tables are no longer here; load them again.", 404)
        try:
            asked = await request.json()
            options = {name: asked[name] for name in OPTIONS if asked.get(name) not in (None, "")}
        except (ValueError, AttributeError, TypeError):
            return _problem("The request could not be read; reload the page.")
        await self._stop(case)
        case.stopped, case.result, case.problems, case.started = False, None, [], time.monotonic()
        case.task = asyncio.create_task(self._judge(case, options))
        return JSONResponse(case.state(), 202)

    async def _judge(self, case: Case, options: dict[str, Any]) -> None:
        try:
            case.waiting = True
            while self.fits.locked():  # a person who waits for others to end may still change their mind
                if case.stopped:
                    raise Cancelled
                await asyncio.sleep(POLL)
            async with self.fits:
                case.waiting = False
                case.result = await work(
                    DECIDE,
                    case.files,
                    case.reading,
                    options,
                    seconds=self.limits.fit_seconds,
                    memory=self.limits.memory,
                    stopped=lambda: case.stopped,
                )
        except WorkError as error:
            case.problems = error.problems
        except Cancelled:
            case.stopped = True
        except Exception:
            case.problems = [{"message": "The program failed at this, which is its own fault; try another method."}]
            raise  # for the screen that the program was started from

    @staticmethod
    async def _stop(case: Case) -> None:
        if case.task is not None and not case.task.done():
            case.stopped = True
            await asyncio.wait([case.task])

    async def state(self, request: Request) -> Response:
        """Say how the judging of a case goes."""
        case = self._case(request)
        return (
            _problem("These tables are no longer here; load them again.", 404)
            if case is None
            else JSONResponse(case.state())
        )

    async def cancel(self, request: Request) -> Response:
        """Stop judging a case."""
        case = self._case(request)
        if case is None:
            return _problem("These tables are no longer here; load them again.", 404)
        await self._stop(case)
        return JSONResponse(case.state())

    async def download(self, request: Request) -> Response:
        """Give the result as a file."""
        case, kind = self._case(request), request.path_params["kind"]
        if case is None or case.result is None or kind not in KINDS:
            return _problem("There is no result to take along yet.", 404)
        try:
            sensitivity = float(request.query_params.get("sensitivity", case.result["sensitivity"]))
            content = await self._quick(RENDER, case.result, kind, sensitivity)
        except ValueError:
            return _problem("The sensitivity must be a number such as 0.9.")
        except WorkError as error:
            return JSONResponse({"problems": error.problems}, 422)
        headers = {
            "content-type": KINDS[kind],
            "content-disposition": f'attachment; filename="transvariation-case.{kind}"',
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        }
        return Response(base64.b64decode(content), headers=headers)


def _problem(message: str, status: int = 422) -> Response:
    return JSONResponse({"problems": [{"message": message}]}, status)


def _reading(form: FormData) -> dict[str, Any]:
    """How the tables are to be read; what was left to the program comes as an empty text, or not at all."""

    def each(what: str) -> tuple[str | None, ...]:
        return tuple(str(form.get(f"{role}-{what}") or "") or None for role in ROLES)

    return {"missing": str(form.get("missing", "error")), "decimals": each("decimal"), "sheets": each("sheet")}


def _name(name: str | None) -> str:
    """A file's own name, without any folders that the sender put before it; it is shown, never opened."""
    return (name or "table").replace("\\", "/").rsplit("/", 1)[-1][:120]


def make_app(token: str, port: int, limits: Limits | None = None) -> Guard:
    """Make the page, guarded."""
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
        Route("/api/cases/{case}/file.{kind}", page.download),
    ]
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    return Guard(Starlette(routes=routes), token=token, hosts=hosts, max_bytes=limits.max_bytes)
