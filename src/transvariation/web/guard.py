"""Who may ask, and how much: the checks that every request passes before anything else happens."""

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transvariation.report.wording.remedies import refusal

COOKIE = "transvariation"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def _cookie(host: str) -> str:
    """Name the cookie by port: browsers give the cookies of one port to all, and two pages may be open at once."""
    return f"{COOKIE}-{host.rpartition(':')[2]}"


class Guard:
    """Let in only the person at this computer who opened the address that was printed.

    The Host must be this computer's, or a stranger's page could reach us by a name of its own. The secret comes with
    the first address and stays in a cookie that scripts cannot read. What changes anything must come from our own
    page (Origin) and carry its second secret (CSRF). Bodies are cut off at `max_bytes`.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str], max_bytes: int):
        self.app = app
        self.token = token
        self.csrf = secrets.token_urlsafe(32)
        self.hosts = hosts
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, self._with_headers(send))
            return
        scope["csrf"] = self.csrf
        await self.app(scope, self._counted(receive), self._with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        host = headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse(refusal("other-address"), 421)
        if self._has_secret_in_address(scope):
            response = RedirectResponse("/", 303)
            response.set_cookie(_cookie(host), self.token, httponly=True, samesite="strict", path="/")
            return response
        # Other programs on this computer share its cookies, whatever they look like: this reader never stumbles.
        given = cookie_parser(headers.get("cookie", "")).get(_cookie(host), "")
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse(refusal("no-secret"), 403)
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("origin") != f"http://{host}":
                return PlainTextResponse(refusal("other-page"), 403)
            if not hmac.compare_digest(headers.get("x-csrf-token", "").encode(), self.csrf.encode()):
                return PlainTextResponse(refusal("old-page"), 403)
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > self.max_bytes:
                return PlainTextResponse(self._too_large(), 413)
        return None

    def _too_large(self) -> str:
        return refusal("large-upload", limit=self.max_bytes / 2**20)

    def _has_secret_in_address(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["path"] == "/" and hmac.compare_digest(given.encode(), self.token.encode())

    def _counted(self, receive: Receive) -> Receive:
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self.max_bytes:
                raise HTTPException(413, self._too_large())
            return message

        return counted

    @staticmethod
    def _with_headers(send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in present]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        return sending
