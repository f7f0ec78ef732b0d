"""Addresses that are credentials must not be in the logs of the HTTP library."""

from __future__ import annotations

import logging

import pytest

from commonplace.embedding.http.errors import hide_queries

ADDRESS = "https://storage.test/upload/v1/files?upload_id=hidden&signature=hidden"


@pytest.mark.parametrize("name", ["httpx", "httpcore.http11", "httpcore.connection"])
def test_queries_of_addresses_are_left_out_and_all_else_stays(
    caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.DEBUG)
    hide_queries()
    hide_queries()
    logging.getLogger(name).info('HTTP Request: %s %s "%d"', "POST", ADDRESS, 200)
    logging.getLogger(name).debug("headers [(b'X-Upload-URL', b'%s'), (b'a', b'?')]", ADDRESS)
    logging.getLogger(name).debug("what has %s no address", "here")
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        'HTTP Request: POST https://storage.test/upload/v1/files?*** "200"',
        "headers [(b'X-Upload-URL', b'https://storage.test/upload/v1/files?***'), (b'a', b'?')]",
        "what has here no address",
    ]
    assert "hidden" not in repr([record.args for record in caplog.records])
