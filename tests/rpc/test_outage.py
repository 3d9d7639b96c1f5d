"""Health while no sandbox can be started: a real server, real sandboxes, bubblewrap taken away."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.app import running_app
from reward_server.sandbox import pool
from reward_server.sandbox.local import container
from reward_server.settings import Settings
from tests.rpc.conftest import refused

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICES = ("", "codereward.v1.RewardService")
ATTACK = "import ctypes; ctypes.CDLL(None).unshare(0x10000000)"


async def until(watch: Any, status: int) -> None:
    async for answer in watch:
        if answer.status == status:
            return


@pytest.mark.promise("Health follows whether sandboxes can be started.", "Service")
async def test_health_follows_whether_sandboxes_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "SPARES", 0)
    async with (
        running_app(Settings(port=0, workers=1, drain_seconds=0)) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        health = health_pb2_grpc.HealthStub(channel)
        requests = [health_pb2.HealthCheckRequest(service=service) for service in SERVICES]
        watches = [health.Watch(request) for request in requests]
        for watch in watches:
            await until(watch, SERVING)

        with monkeypatch.context() as patch:
            patch.setattr(container, "bubblewrap_path", lambda: "/nonexistent/package/bin/bwrap")
            await stub.Execute(pb.ExecuteRequest(source=ATTACK))
            for watch in watches:
                await until(watch, NOT_SERVING)
            error = await refused(stub.Execute(pb.ExecuteRequest(source="print(1)")))
            assert error.code is grpc.StatusCode.UNAVAILABLE
            assert [(await health.Check(one)).status for one in requests] == [NOT_SERVING] * 2

        for watch in watches:
            await until(watch, SERVING)
            watch.cancel()
        answer = await stub.Execute(pb.ExecuteRequest(source="print(1)"))
        assert answer.stdout.data == b"1\n"
