"""Start the local page and open it."""

import secrets
import signal
import socket
import threading
import webbrowser


def serve(port: int, open_browser: bool) -> None:
    """Serve the page on this computer only; print the address to open, and open it if asked."""
    try:
        import uvicorn

        from transvariation.web.app import make_app
        from transvariation.web.connection import MAX_IDLE_CONNECTIONS, Connection
    except ImportError as error:
        raise ValueError("the page needs a web server: pip install anyio python-multipart starlette uvicorn") from error
    from transvariation.web.workers import warm_up

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(64)
    except OSError as error:
        raise ValueError(
            f"port {port} is taken ({error.strerror}); choose another with --port, or 0 for any"
        ) from error
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    address = f"http://127.0.0.1:{port}/?token={token}"
    # A termination or a closed terminal ends the page as Ctrl-C does, and its workers with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # Windows has none
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        print(address, flush=True)
        print("Open this address in a browser on this computer. Ctrl-C ends the page.", flush=True)
        # The page may open while the heavy libraries load. Python waits for the thread before it ends, so that no
        # worker starts after that.
        threading.Thread(target=warm_up).start()
        if open_browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            make_app(token, port),
            http=Connection,
            log_level="warning",
            server_header=False,
            timeout_keep_alive=10,
            limit_concurrency=2 * MAX_IDLE_CONNECTIONS,
        )
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:  # which uvicorn passes on when it has closed its connections
        print("\nThe page is closed.", flush=True)
