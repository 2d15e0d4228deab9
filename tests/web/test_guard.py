"""The page refuses every request but those of the browser that it opened."""

import pytest

pytest.importorskip("starlette")
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from transvariation.web.guard import COOKIE, Guard

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
TOKEN = "t0ken"


async def _echo(request: Request):
    return JSONResponse({"bytes": len(await request.body())})


@pytest.fixture
def guard():
    routes = [Route("/", _echo), Route("/do", _echo, methods=["POST"])]
    return Guard(Starlette(routes=routes), token=TOKEN, hosts=frozenset({HOST}), max_bytes=1000)


def _client(guard, cookie=TOKEN, host=HOST):
    client = TestClient(guard, base_url=f"http://{host}", follow_redirects=False)
    if cookie:
        client.cookies.set(f"{COOKIE}-8000", cookie)
    return client


def _post(client, **headers):
    return client.post("/do", content=b"x", headers=headers)


def test_the_printed_address_opens_the_page_and_hides_the_secret(guard):
    client = _client(guard, cookie=None)
    response = client.get(f"/?token={TOKEN}")
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("cookie", [None, "", "wrong", TOKEN + "x"])
def test_without_the_secret_nothing_is_shown(guard, cookie):
    assert _client(guard, cookie=cookie).get("/").status_code == 403


@pytest.mark.parametrize("other", ["a/b=1", "=;;=", '"', "x[]=1; @=2", "jupyter=ä".encode().decode("latin-1")])
def test_cookies_of_other_programs_do_no_harm(guard, other):
    client = _client(guard, cookie=None)
    cookie = f"{other}; {COOKIE}-8000={TOKEN}"
    assert client.get("/", headers={"cookie": cookie.encode("latin-1")}).status_code == 200
    assert client.get("/", headers={"cookie": other.encode("latin-1")}).status_code == 403


@pytest.mark.parametrize("query", ["?token=wrong", "?token=", "?token=%00", "?other=" + TOKEN])
def test_a_guessed_address_is_refused(guard, query):
    assert _client(guard, cookie=None).get("/" + query).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:9999", "evil.example:8000"])
def test_a_forged_host_is_refused_even_with_the_secret(guard, host):
    client = _client(guard)
    assert client.get("/", headers={"host": host}).status_code == 421
    assert client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 421


def test_our_own_page_may_post(guard):
    response = _post(_client(guard), origin=ORIGIN, **{"x-csrf-token": guard.csrf})
    assert response.status_code == 200
    assert response.json() == {"bytes": 1}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": ORIGIN},
        {"origin": ORIGIN, "x-csrf-token": "wrong"},
        {"origin": "http://evil.example", "x-csrf-token": "right"},
        {"origin": "null", "x-csrf-token": "right"},
        {"x-csrf-token": "right"},
    ],
)
def test_a_cross_origin_or_unsigned_post_is_refused(guard, headers):
    headers = {k: guard.csrf if v == "right" else v for k, v in headers.items()}
    assert _post(_client(guard), **headers).status_code == 403


def test_an_upload_that_says_it_is_too_large_is_refused(guard):
    headers = {"origin": ORIGIN, "x-csrf-token": guard.csrf}
    assert _client(guard).post("/do", content=b"x" * 1001, headers=headers).status_code == 413


def test_an_endless_upload_is_cut_off(guard):
    sent = 0

    def endless():
        nonlocal sent
        while sent < 10**6:
            sent += 100
            yield b"x" * 100

    headers = {"origin": ORIGIN, "x-csrf-token": guard.csrf}
    response = _client(guard).post("/do", content=endless(), headers=headers)
    assert response.status_code == 413
    assert "larger than" in response.text


@pytest.mark.parametrize("length", ["-1", "many", "1e3"])
def test_a_nonsensical_length_is_refused(guard, length):
    headers = {"origin": ORIGIN, "x-csrf-token": guard.csrf, "content-length": length}
    assert _client(guard).post("/do", headers=headers).status_code == 413


def test_every_answer_carries_the_policy(guard):
    for response in (_client(guard).get("/"), _client(guard, cookie=None).get("/")):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
