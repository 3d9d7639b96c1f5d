"""The doors of a server of several processes: one port, which all of them serve."""

from __future__ import annotations

import httpx

from reward_server.processes.parent import running_processes
from reward_server.settings import load_settings
from tests.rpc.http.conftest import score_body
from tests.rpc.processes.serving import until
from tests.support.simulated_process import COMMAND


async def test_processes_share_the_port_of_the_doors() -> None:
    settings = load_settings({"port": 0, "http_port": 0, "workers": 4, "drain_seconds": 20})
    async with running_processes(settings, 2, command=COMMAND) as processes:
        url = f"http://{processes.facts['http_address']}"
        found = set[int]()

        async def met_all() -> bool:
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                found.add((await client.get("/v1/info")).json().get("process", 0))
                answer = await client.post("/v1/score", json=score_body())
            assert answer.json()["verdict"] == "VERDICT_PASSED"
            return found == {0, 1}

        await until(met_all)
