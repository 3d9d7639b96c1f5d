"""Settings that a training run's configuration and the environment of the adapters share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, FilePath, PositiveFloat, PositiveInt

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.reward_rule import Policy, set_reward_rule
from trainer_client.transport.channel import ConnectionOptions, tls_of_files, token_of_file

Bonus = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class RewardSettings(BaseModel):
    """How verdicts become rewards.

    Args:
        policy: all-or-nothing, or the share of tests that passed; each task's own if absent, which
            is all-or-nothing where it has none.
        compile_bonus: added when the program compiles but fails every test.
        format_bonus: added when there is a code block that does not compile.
        cpu_time_seconds: limit of each execution; the task's own if absent, or else the server's
            default.
    """

    policy: Policy | None = None
    compile_bonus: Bonus = 0.0
    format_bonus: Bonus = 0.0
    cpu_time_seconds: PositiveFloat | None = None

    @property
    def defaults(self) -> pb.ScoreRequest:
        """The fields that every request gets; a task's own stay where nothing else is set."""
        request = pb.ScoreRequest()
        set_reward_rule(request, self.policy, self.compile_bonus, self.format_bonus)
        if self.cpu_time_seconds is not None:
            request.limits.cpu_time_seconds = self.cpu_time_seconds
        return request


class ConnectionSettings(BaseModel):
    """How servers are connected to; see `trainer_client.Connection`.

    Args:
        token_file: a file with the bearer token that the servers want.
        ca_file: a PEM file with the authorities that may sign the server's certificate.
        certificate_file: a PEM file with the certificate that the server is shown.
        key_file: a PEM file with its key.
        server_name: the name to expect in the server's certificate. With it or any of the three
            files of certificates, the connection is TLS.
        timeout_seconds: how long one call may take in all, attempts after failures included.
        outage_seconds: how long a call goes on while no server answers at all.
        max_in_flight: requests of one process under way at once.
    """

    token_file: FilePath | None = None
    ca_file: FilePath | None = None
    certificate_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: str | None = None
    timeout_seconds: PositiveFloat = 600.0
    outage_seconds: PositiveFloat = 60.0
    max_in_flight: PositiveInt = 64

    @property
    def options(self) -> ConnectionOptions:
        """The options of a connection.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file does not hold what it should.
        """
        tls = tls_of_files(self.ca_file, self.certificate_file, self.key_file, self.server_name)
        return ConnectionOptions(
            tls=tls,
            token=token_of_file(self.token_file),
            timeout_seconds=self.timeout_seconds,
            outage_seconds=self.outage_seconds,
            max_in_flight=self.max_in_flight,
        )
