"""Forked children are told that gRPC does not work there, and do no harm to their parent."""

from __future__ import annotations

import pytest

from tests.support.forks import printed_by

USED_BEFORE = "used before this process was forked"

POOL = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardClient
from trainer_client.adapters.common.judge import Judge

def reward(judge):
    return judge.score_blocking(["a"], [pb.ScoreRequest()])[0].reward

def told(judge):
    calls = {
        "copy": lambda: reward(judge),
        "new": lambda: RewardClient(sys.argv[1]).score([pb.ScoreRequest()])[0].reward,
    }
    try:
        return calls[sys.argv[2]]()
    except RuntimeError as error:
        return error

judge = Judge(sys.argv[1])
reward(judge)
if sys.argv[3] == "closed":
    judge.close()
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    print(*pool.map(told, [judge] * 4), sep="\\n")
print(reward(judge))
"""


@pytest.mark.parametrize("client", ["copy", "new"])
@pytest.mark.parametrize("before", ["open", "closed"])
def test_no_client_works_in_a_process_that_was_forked_after_one_was_used(serve, client, before):
    *told, own = printed_by(POOL, serve().target, client, before).splitlines()
    assert len(told) == 4
    assert all(USED_BEFORE in line for line in told)
    assert own == "1.0"


LEAVING = """
import gc, os, sys
from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardClient

client = RewardClient(sys.argv[1])

def reward():
    return client.score([pb.ScoreRequest()])[0].reward

print(reward(), flush=True)
child = os.fork()
if child == 0:
    if sys.argv[2] == "unwound":
        with client:
            sys.exit()
    if sys.argv[2] == "forgotten":
        client.close()
        del client
        gc.collect()
    sys.exit()
print(os.waitpid(child, 0)[1], reward(), reward())
"""


@pytest.mark.parametrize("how", ["at once", "unwound", "forgotten"])
def test_a_forked_child_that_ends_in_order_leaves_its_parents_client_alone(serve, how):
    assert printed_by(LEAVING, serve().target, how).split() == ["1.0", "0", "1.0", "1.0"]


FIRST = """
import os, sys
from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardClient

client = RewardClient(sys.argv[1])
child = os.fork()
with client:
    print(client.score([pb.ScoreRequest()])[0].reward, flush=True)
if child:
    os.waitpid(child, 0)
"""


def test_a_child_may_be_the_first_to_use_a_client(serve):
    assert printed_by(FIRST, serve().target).split() == ["1.0", "1.0"]
