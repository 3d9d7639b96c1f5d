// Scores a right and a wrong completion with a reward server.
//
//     node score.js [HOST:PORT]
//
// Prints each verdict. Exit status: 0 when both were judged, 1 when one was not, 2 for a bad call.

import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DEADLINE_MILLISECONDS = 60_000;

const TESTS = { entryPoint: "double", asserts: ["assert double(3) == 6", "assert double(-1) == -2"] };
const COMPLETIONS = {
  right: "```python\ndef double(x):\n    return x + x\n```",
  wrong: "```python\ndef double(x):\n    return x * x\n```",
};

// Without `defaults`: they would make an absent reward the number 0, and what was not judged has
// no reward.
function loadContract() {
  const definition = protoLoader.loadSync("codereward/v1/reward_service.proto", {
    includeDirs: [path.join(HERE, "../../proto"), HERE],
    enums: String,
    longs: Number,
  });
  return grpc.loadPackageDefinition(definition).codereward.v1;
}

async function score(call, id, completion) {
  const request = { id, completion, function: TESTS };
  try {
    const { verdict, reward } = await call(request, {
      deadline: Date.now() + DEADLINE_MILLISECONDS,
    });
    return { id, verdict, reward };
  } catch (error) {
    return { id, error: `${grpc.status[error.code] ?? "UNKNOWN"}: ${error.details ?? error}` };
  }
}

async function main(target = "127.0.0.1:50051", ...rest) {
  if (rest.length > 0) {
    console.error("usage: node score.js [HOST:PORT]");
    return 2;
  }
  const { RewardService } = loadContract();
  const client = new RewardService(target, grpc.credentials.createInsecure());
  const call = promisify(client.score.bind(client));
  const scored = await Promise.all(
    Object.entries(COMPLETIONS).map(([id, completion]) => score(call, id, completion)),
  );
  client.close();
  for (const { id, verdict, reward, error } of scored) {
    console.log(error ? `${id}: not judged, ${error}` : `${id}: ${verdict}, reward ${reward ?? "none"}`);
  }
  return scored.some(({ error }) => error) ? 1 : 0;
}

process.exitCode = await main(...process.argv.slice(2));
