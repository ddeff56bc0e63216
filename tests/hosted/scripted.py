"""A server on this machine that answers as the two services do, by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-Zr8Kq2Vn5Tb9Xw3Lm7Hd1Pf6"


class Service:
    """What the server answers, in order, and what it was asked.

    Attributes:
        answers: Texts or JSON values that the model says, or what makes a whole response of the style.
        asked: The bodies of the requests.
    """

    def __init__(self, style: str) -> None:
        self.style, self.answers, self.asked = style, list[Any](), list[dict[str, Any]]()
        self.let_go = threading.Event()
        self.url = ""

    def says(self, *answers: Any) -> None:
        """Answer so from now on."""
        self.answers = list(answers)

    def data(self, at: int = -1) -> Any:
        """The data of a request."""
        text = self.asked[at]["messages"][-1]["content"]
        assert text.startswith("<data>\n")
        assert text.endswith("\n</data>")
        assert text.count("<") == 2
        return json.loads(text.removeprefix("<data>").removesuffix("</data>"))

    def response(self, said: str, *, stop: str = "", refusal: str = "") -> dict[str, Any]:
        """A response of the service in which the model says something."""
        if self.style == "anthropic":
            return {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None,
                "stop_reason": "refusal" if refusal else stop or "end_turn", "content": [{"type": "text", "text": said}],
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }  # fmt: skip
        message = {"role": "assistant", "content": None if refusal else said, "refusal": refusal or None}
        stop = {"max_tokens": "length"}.get(stop, stop) or "stop"
        return {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": stop, "logprobs": None, "message": message}],
        }  # fmt: skip


class Raw:
    """A response with a status and a body of its own."""

    def __init__(self, status: int, body: str, kind: str = "application/json") -> None:
        self.status, self.body, self.kind = status, body, kind


class Silence:
    """No response until the server is let go."""


@contextmanager
def serving(style: str) -> Iterator[Service]:
    """A service of a style at an address of this machine."""
    service = Service(style)

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service.asked.append(json.loads(body))
            said = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
            if isinstance(said, Silence):
                service.let_go.wait(30)
                return
            if isinstance(said, Callable):  # type: ignore[arg-type]
                said = said(service)
            if not isinstance(said, Raw):
                whole = said if isinstance(said, dict) and "id" in said else service.response(
                    said if isinstance(said, str) else json.dumps(said)
                )  # fmt: skip
                said = Raw(200, json.dumps(whole))
            data = said.body.encode()
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
