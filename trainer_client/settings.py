"""Settings that are common to a training run's configuration and the adapters' environment."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, FilePath, PositiveFloat, PositiveInt

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.reward_rule import Policy, set_reward_rule
from trainer_client.transport.channel import ConnectionOptions, tls_of_files, token_of_file

Bonus = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class RewardSettings(BaseModel):
    """The rule that makes rewards of verdicts.

    Args:
        policy: all-or-nothing, or the share of tests that passed. If absent, it is each task's own
            policy, or all-or-nothing if the task has none.
        compile_bonus: least reward of a program that compiles and does not pass.
        format_bonus: reward of a completion that has a code block and does not compile.
        cpu_time_seconds: limit of each execution. If absent, it is the task's own limit, or the
            server's default.
    """

    policy: Policy | None = None
    compile_bonus: Bonus = 0.0
    format_bonus: Bonus = 0.0
    cpu_time_seconds: PositiveFloat | None = None

    @property
    def defaults(self) -> pb.ScoreRequest:
        """The fields that every request gets; a task's own fields stay if they are not set here."""
        request = pb.ScoreRequest()
        set_reward_rule(request, self.policy, self.compile_bonus, self.format_bonus)
        if self.cpu_time_seconds is not None:
            request.limits.cpu_time_seconds = self.cpu_time_seconds
        return request


class ConnectionSettings(BaseModel):
    """Options of connections to servers; see `trainer_client.Connection`.

    Args:
        token_file: a file with the bearer token that the servers require.
        ca_file: a PEM file with the authorities that may sign the server's certificate.
        certificate_file: a PEM file with the client's certificate.
        key_file: a PEM file with its key.
        server_name: the name to expect in the server's certificate. With it or any of the three
            certificate files, the connection uses TLS.
        timeout_seconds: greatest time of one call, including further attempts after failures.
        outage_seconds: time after which a call gives up if no server answers at all.
        max_in_flight: greatest number of open requests of one process.
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
            ValueError: a file's content is invalid.
        """
        tls = tls_of_files(self.ca_file, self.certificate_file, self.key_file, self.server_name)
        return ConnectionOptions(
            tls=tls,
            token=token_of_file(self.token_file),
            timeout_seconds=self.timeout_seconds,
            outage_seconds=self.outage_seconds,
            max_in_flight=self.max_in_flight,
        )
