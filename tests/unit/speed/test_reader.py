"""The raw reader against real sockets, plain and TLS."""

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.errors import TamisError
from tamis.speed.reader import Target, read_all

Talk = Callable[[socket.socket], None]


def _listening(talk: Talk, *, context: ssl.SSLContext | None = None, times: int = 1) -> int:
    """A server in a thread that talks with so many readers; its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server:
            for _ in range(times):
                raw, _ = server.accept()
                try:
                    with context.wrap_socket(raw, server_side=True) if context else raw as sock:
                        sock.recv(1 << 16)
                        talk(sock)
                except OSError:
                    pass

    threading.Thread(target=serve, daemon=True).start()
    return int(server.getsockname()[1])


def _answers(body: bytes) -> Talk:
    return lambda sock: sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + body)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert


def _tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[1], certificate[0])
    return context


def test_everything_that_comes_over_tls_is_read(certificate, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    body = bytes(range(256)) * 4000
    port = _listening(_answers(body), context=_tls(certificate))
    (reading,) = read_all(Target("localhost", port, True), [b"GET / HTTP/1.1\r\n\r\n"], most_seconds=20).readings
    assert reading.failed is None
    assert bytes(reading.data).endswith(body)
    assert reading.ends[-1] == len(reading.data)


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate) -> None:
    port = _listening(_answers(b""), context=_tls(certificate))
    with pytest.raises(TamisError, match="no connection"):
        read_all(Target("localhost", port, True), [b"x"], most_seconds=20)


def test_many_are_read_at_once_and_none_gets_anothers_bytes() -> None:
    port = _listening(_answers(b"x" * 300_000), times=20)
    sitting = read_all(Target("127.0.0.1", port, False), [b"GET / HTTP/1.1\r\n\r\n"] * 20, most_seconds=20)
    assert {len(one.data) for one in sitting.readings} == {300_019}
    assert all(one.stamps == sorted(one.stamps) and one.sent_at <= one.sent_by for one in sitting.readings)
    assert 0 <= sitting.idle_share <= 1


def test_the_end_of_the_chunks_is_the_end_although_the_connection_stays() -> None:
    hung_up = threading.Event()

    def talk(sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        hung_up.wait(20)

    port = _listening(talk)
    (reading,) = read_all(Target("127.0.0.1", port, False), [b"x"], most_seconds=20).readings
    hung_up.set()
    assert reading.failed is None and reading.data.endswith(b"ok\r\n0\r\n\r\n")


def test_what_does_not_come_in_time_is_given_up_and_said() -> None:
    hung_up = threading.Event()

    def talk(sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nsome")
        hung_up.wait(20)

    port = _listening(talk)
    (reading,) = read_all(Target("127.0.0.1", port, False), [b"x"], most_seconds=0.3).readings
    hung_up.set()
    assert reading.failed == "out of time"
    assert reading.data.endswith(b"some")


def test_a_connection_that_is_reset_is_a_failed_reading_and_no_crash() -> None:
    def talk(sock: socket.socket) -> None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing sends a reset

    for size in (10, 50_000_000):  # one is sent whole, the other is under way when the reset comes
        port = _listening(talk)
        (reading,) = read_all(Target("127.0.0.1", port, False), [b"x" * size], most_seconds=20).readings
        assert reading.failed is not None and "the connection broke" in reading.failed


def test_enough_is_enough() -> None:
    hung_up = threading.Event()

    def talk(sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nfirst")
        hung_up.wait(20)

    port = _listening(talk)
    sitting = read_all(Target("127.0.0.1", port, False), [b"x"], most_seconds=20, enough=lambda r: b"first" in r.data)
    hung_up.set()
    assert sitting.readings[0].failed is None
