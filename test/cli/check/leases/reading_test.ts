import { expect, test } from "bun:test";
import { readLease, toLeaseFinding } from "../../../../lib/cli/check/leases/reading.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";

const PATH = { namespace: "n", name: "l" } as const;

test.each<[string, string | KubeError]>([
  ["held by cp-1_x", "cp-1_x"],
  ["held by no process", ""],
  ["not created yet", new KubeError("notFound", "none")],
  ["no right to see who holds it", new KubeError("forbidden", "no")],
])("readLease() finds a Lease that is %s", async (state, answer) => {
  const client = new ScriptedKubeClient(new ManualClock());
  client.answerRead = () => {
    if (typeof answer !== "string") throw answer;
    return { metadata: PATH, spec: { holderIdentity: answer } };
  };
  const reading = await readLease(client, PATH, new AbortController().signal);
  const message = `Lease n/l: ${state}`;
  expect(toLeaseFinding(PATH, reading)).toEqual({ level: "ok", code: "lease", message });
});
