"""The routes of the local page. Every case has a worker, which alone reads tables, decides and draws."""

import asyncio
import base64
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from transvariation import __version__
from transvariation.report.wording.remedies import refusal
from transvariation.web.choices import page_choices, page_html
from transvariation.web.guard import Guard
from transvariation.web.workers import Worker, WorkError, failure

_CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "zip": "application/zip",
}
_ENDINGS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_STATIC = files("transvariation.web") / "static"
STATIC = {file.name: _ENDINGS[PurePath(file.name).suffix] for file in _STATIC.iterdir()}
VIEWS = {
    "view": ("source",),
    "points": ("x", "y"),
    "evidence": ("key",),
    "spectra": (),
    "figure": ("kind",),
}  # parameters
PAIR = ("control", "recovered")
ANALYSES = {  # their files, and what the page calls those that are needed
    "monitor": {"normal": "normal run", "new": "new run"},
    "validate": {"table": "database", "description": ""},
}
THIRD = ("", "nfi", "background", "foreign")
HELP = "https://transvariation.readthedocs.io"


@dataclass(frozen=True)
class PageLimits:
    """Limits of what a user may ask of the page."""

    max_bytes: int = 64 * 2**20
    read_seconds: float = 60
    fit_seconds: float = 600
    analysis_seconds: float = 4 * 3600
    memory: int = 6 * 2**30
    cases: int = 8
    at_once: int = 2  # cases that are judged; as many again may do something quick


@dataclass
class Case:
    """A case and its worker, which has its tables and its result. A new worker takes the place of a stopped one."""

    start: list[tuple[str, tuple[Any, ...]]]  # jobs that bring a new worker to where the last one was
    limits: PageLimits
    third: str = ""  # what the background is, or the foreign table
    settings: dict[str, object] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)  # what was understood of the tables
    judged: bool = False
    sensitivity: float | None = None  # at which the result was looked at last
    step: tuple[str, float | None] = ("starting", 0.0)
    started: float = 0
    problems: list[dict[str, object]] | None = None
    task: "asyncio.Task[None] | None" = None
    worker: Worker | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(
        self, job: str, *arguments: object, seconds: float = 0, **options: Callable[[str, float | None], None]
    ) -> Any:  # noqa: ANN401  # parsed JSON
        """Have a job done by the worker of this case."""
        quick = self.limits.read_seconds
        async with self.starting:
            if self.worker is None or self.worker.closed:
                self.worker = await Worker.start(self.limits.memory)
                for first, its in self.start:
                    await self.worker.ask(first, *its, seconds=quick)
        return await self.worker.ask(job, *arguments, seconds=seconds or quick, **options)

    async def stop(self) -> None:
        """Stop judging."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            await asyncio.wait([self.task])

    def close(self) -> None:
        """Forget the case."""
        if self.task is not None:
            self.task.cancel()
        if self.worker is not None:
            self.worker.close()

    @contextmanager
    def closed_on_failure(self) -> Iterator[None]:
        """Forget the case if a job fails."""
        try:
            yield
        except WorkError:
            self.close()
            raise

    def state(self) -> dict[str, object]:
        """Return the state of the case."""
        if self.task is not None and not self.task.done():
            step, done = self.step
            seconds = round(time.monotonic() - self.started, 1)
            return {"state": "running", "step": step, "done": done, "seconds": seconds}
        if self.judged:
            return {"state": "done"}
        if self.task is None:
            return {"state": "read"}
        return {"state": "cancelled"} if self.problems is None else {"state": "failed", "problems": self.problems}


class Page:
    """The cases in memory, and the responses to requests."""

    def __init__(self, limits: PageLimits):
        self.limits = limits
        self.cases: OrderedDict[str, Case] = OrderedDict()
        self.fits = asyncio.Semaphore(limits.at_once)
        self.quick = asyncio.Semaphore(limits.at_once)  # long fits never keep others from loading their tables

    async def index(self, request: Request) -> Response:
        """Return the page, or that of monitoring or validation, with the token that its requests must carry."""
        name = request.url.path.strip("/") or "index"
        shared = {"max_bytes": self.limits.max_bytes, "version": __version__, "help": HELP}
        return HTMLResponse(page_html(name, csrf=request.scope["csrf"], **shared))

    async def static(self, request: Request) -> Response:
        """Return a script or style sheet by name; no other path is ever opened."""
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse(refusal("no-path"), 404)
        return Response((_STATIC / name).read_bytes(), headers={"content-type": STATIC[name]})

    async def choices(self, request: Request) -> Response:
        """Return what can be chosen: roles of columns, methods, reductions, details of a case."""
        return JSONResponse(page_choices())

    async def tables(self, request: Request) -> Response:
        """Take the tables and how to read them; return what was understood. Tables not sent are those of a case."""
        async with self._form(request) as form:
            settings, third = _json(str(form.get("settings") or "{}")), str(form.get("third") or "")
            if third not in THIRD:
                raise failure("third", 400, third=third)
            known = self.cases.get(str(form.get("case") or ""))
            held = {} if known is None or known.start[0][0] != "load" else known.start[0][1][0]
            wanted = (*PAIR, third) if third in ("background", "foreign") else PAIR
            chosen = {which: await _file(form, which) or held.get(which) for which in wanted}
        if lacking := [which for which, file in chosen.items() if not file or "content" not in file]:
            raise failure("choose-table" if lacking[0] in PAIR else "choose-third", table=lacking[0])
        if third == "nfi":
            chosen["background"] = {"name": third}
        return await self._read(Case([], self.limits, third), chosen, settings)

    async def analyze(self, request: Request) -> Response:
        """Take the tables and options of an analysis and start it; the page then polls the state."""
        kind = request.url.path.rpartition("/")[2]
        async with self._form(request) as form:
            options = _json(str(form.get("options") or "{}"))
            chosen = {which: file for which in ANALYSES[kind] if (file := await _file(form, which))}
        if lacking := [table for which, table in ANALYSES[kind].items() if table and which not in chosen]:
            raise failure("choose-table-of", table=lacking[0])
        case = Case([], self.limits, settings=options)
        with case.closed_on_failure():
            described = await self._ask(case, "prepare", kind, chosen, options)
        name = self._keep(case)
        self._begin(case, "analyze", self.limits.analysis_seconds)
        return JSONResponse(case.state() | {"case": name, "described": described}, 202)

    async def analysis(self, request: Request) -> Response:
        """Return what an analysis found: sections of its report, and its files."""
        case = self._case(request)
        if not case.judged or case.worker is None or case.worker.closed:
            raise failure("no-analysis", 404)
        return JSONResponse(await self._ask(case, "analysis"))

    async def example(self, request: Request) -> Response:
        """Take the case of the demonstration."""
        case = Case([], self.limits)
        return await self._read(case, await self._ask(case, "example"), {})

    async def _read(self, case: Case, chosen: dict[str, object], settings: dict[str, object]) -> Response:
        case.settings, case.start = settings, [("load", (chosen,)), ("read", (settings,))]
        with case.closed_on_failure():
            await self._ask(case, "load", chosen)
            case.seen = await self._ask(case, "read", settings)
        if "problems" in case.seen:
            case.close()
            return JSONResponse(case.seen, 422)
        return JSONResponse({"case": self._keep(case), **case.seen})

    async def saved(self, request: Request) -> Response:
        """Open a case that was saved as JSON."""
        async with self._form(request) as form:
            file = await _file(form, "saved")
        if file is None:
            raise failure("choose-saved")
        case = Case([("open", (file,))], self.limits, judged=True)
        with case.closed_on_failure():
            await case.ask("show", "view", None)
        return JSONResponse({"case": self._keep(case)})

    def _keep(self, case: Case) -> str:
        name = secrets.token_urlsafe(12)
        self.cases[name] = case
        while len(self.cases) > self.limits.cases:
            self.cases.popitem(last=False)[1].close()
        return name

    @asynccontextmanager
    async def _form(self, request: Request) -> AsyncIterator[FormData]:
        parser = MultiPartParser(request.headers, request.stream(), max_files=3, max_fields=12)
        parser.spool_max_size = self.limits.max_bytes + 1  # in memory: no temporary file ever holds a table
        try:
            async with asyncio.timeout(self.limits.read_seconds):
                form = await parser.parse()
        except TimeoutError:
            raise failure("slow-upload", 408) from None
        except (MultiPartException, KeyError, ValueError):
            raise failure("upload") from None
        try:
            yield form
        finally:
            await form.close()

    def _case(self, request: Request) -> Case:
        name = request.path_params["case"]
        if name not in self.cases:
            raise failure("gone", 404)
        self.cases.move_to_end(name)  # the cases forgotten first are those that nobody looks at
        return self.cases[name]

    async def _ask(self, case: Case, job: str, *arguments: object) -> Any:  # noqa: ANN401  # parsed JSON
        async with self.quick:
            return await case.ask(job, *arguments)

    async def judge(self, request: Request) -> Response:
        """Start judging a case; the page then polls its state."""
        case, settings = self._case(request), _json(await request.body())
        await case.stop()
        await self._ask(case, "check", settings)
        case.settings, case.judged, case.problems, case.sensitivity = settings, False, None, None
        self._begin(case, "judge", self.limits.fit_seconds)
        return JSONResponse(case.state(), 202)

    def _begin(self, case: Case, job: str, seconds: float) -> None:
        """Start a long job of a case."""
        case.step, case.started = ("waiting for another case", 0.0), time.monotonic()
        case.task = asyncio.create_task(self._work(case, job, seconds))

    async def _work(self, case: Case, job: str, seconds: float) -> None:
        def report(step: str, share: float | None) -> None:
            case.step = step, share

        try:
            async with self.fits:
                report("starting", 0.0)
                await case.ask(job, case.settings, seconds=seconds, progress=report)
            case.judged = True
        except WorkError as error:
            case.problems = error.answer["problems"]
        except Exception:
            case.problems = [{"message": refusal("unexpected")}]
            raise  # shown in the terminal

    async def state(self, request: Request) -> Response:
        """Return the state of a case."""
        return JSONResponse(self._case(request).state())

    async def opened(self, request: Request) -> Response:
        """Return what the page needs to show a case again after a reload; the program may have been started again."""
        if request.path_params["case"] not in self.cases:
            return JSONResponse({"state": "gone"})
        case = self._case(request)
        names = ("third", "settings", "sensitivity", "seen")
        return JSONResponse(case.state() | {name: getattr(case, name) for name in names})

    async def cancel(self, request: Request) -> Response:
        """Stop judging a case."""
        case = self._case(request)
        await case.stop()
        return JSONResponse(case.state())

    async def preview(self, request: Request) -> Response:
        """Return the spectra before and after a choice of variables and preprocessing."""
        case, settings = self._case(request), _json(await request.body())
        return JSONResponse(await self._ask(case, "preview", settings))

    async def view(self, request: Request) -> Response:
        """Return a view of the result at a sensitivity: the conclusions, the points of the figure, the evidence."""
        name = request.path_params["view"]
        if name not in VIEWS:
            raise failure("no-view", 404, view=name)
        return JSONResponse(
            await self._show(request, name, *(request.query_params.get(key, "") for key in VIEWS[name]))
        )

    async def download(self, request: Request) -> Response:
        """Return the result at a sensitivity as a file."""
        kind = request.path_params["kind"]
        if kind not in _CONTENT_TYPES:
            raise failure("no-file-kind", 404, kind=kind)
        file = await self._show(request, "save", kind)
        headers = {
            "content-type": _CONTENT_TYPES[kind],
            "content-disposition": f'attachment; filename="{file["name"]}"',
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        }
        return Response(base64.b64decode(file["content"]), headers=headers)

    async def _show(self, request: Request, view: str, *arguments: object) -> Any:  # noqa: ANN401  # parsed JSON
        """Return a view of a case at the sensitivity of the query."""
        case = self._case(request)
        if not case.judged:
            raise failure("no-result", 404)
        if case.worker is None or (case.worker.closed and case.start[0][0] != "open"):
            case.judged = False
            raise failure("lost", 404)
        sensitivity = None
        try:
            if "sensitivity" in request.query_params:
                sensitivity = case.sensitivity = float(request.query_params["sensitivity"])
        except ValueError:
            raise failure("sensitivity", 400) from None
        return await self._ask(case, "show", view, sensitivity, *arguments)

    @asynccontextmanager
    async def open(self, app: Starlette) -> AsyncIterator[None]:
        """Serve; end all workers at the end."""
        yield
        for case in self.cases.values():
            case.close()


async def _failed(request: Request, error: Exception) -> Response:
    """Return the reasons for which a request could not be fulfilled."""
    return JSONResponse(error.answer, error.status)  # type: ignore[attr-defined]


async def _file(form: FormData, name: str) -> dict[str, str] | None:
    """Return an uploaded file as the worker takes it. Its name, without folders, is shown and never opened."""
    file = form.get(name)
    if not isinstance(file, UploadFile) or not file.filename:
        return None
    shown = file.filename.replace("\\", "/").rsplit("/", 1)[-1][:120] or "table"
    return {"name": shown, "content": base64.b64encode(await file.read()).decode()}


def _json(content: str | bytes) -> dict[str, object]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise failure("unreadable", 400)
    return found


def make_app(token: str, port: int, limits: PageLimits | None = None) -> Guard:
    """Build the application behind its guard."""
    limits = limits or PageLimits()
    page = Page(limits)
    routes = [
        Route("/", page.index),
        *(Route(f"/{kind}", page.index) for kind in ANALYSES),
        Route("/static/{name}", page.static),
        *(Route(f"/api/{kind}", page.analyze, methods=["POST"]) for kind in ANALYSES),
        Route("/api/choices", page.choices),
        Route("/api/tables", page.tables, methods=["POST"]),
        Route("/api/example", page.example, methods=["POST"]),
        Route("/api/saved", page.saved, methods=["POST"]),
        Route("/api/cases/{case}", page.state),
        Route("/api/cases/{case}/opened", page.opened),
        Route("/api/cases/{case}/judge", page.judge, methods=["POST"]),
        Route("/api/cases/{case}/cancel", page.cancel, methods=["POST"]),
        Route("/api/cases/{case}/preview", page.preview, methods=["POST"]),
        Route("/api/cases/{case}/file.{kind}", page.download),
        Route("/api/cases/{case}/analysis", page.analysis),
        Route("/api/cases/{case}/{view}", page.view),
    ]
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    app = Starlette(routes=routes, exception_handlers={WorkError: _failed}, lifespan=page.open)
    return Guard(app, token=token, hosts=hosts, max_bytes=limits.max_bytes)
