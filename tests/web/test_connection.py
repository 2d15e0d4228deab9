"""Connections that are idle."""

import contextlib
import socket
import time
from http.client import HTTPConnection

import pytest
from tests.web.conftest import wait_for_page

pytest.importorskip("uvicorn")


def test_idle_connections_do_not_keep_others_from_being_answered(served):
    _, where = served
    wait_for_page(where)
    host, port = where.split(":")
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(100)]
        idle[-1].send(b"GET / HT")  # nor do requests that never end
        time.sleep(0.5)
        connection = stack.enter_context(contextlib.closing(HTTPConnection(where, timeout=60)))
        connection.request("GET", "/")
        with connection.getresponse() as answer:
            assert answer.status == 403
