/**
 * What a cluster says of requests that fail again and again, and that it goes on with what it can.
 * @module
 */
import { expect, test } from "bun:test";
import { until } from "../../support/nodes/rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { SipStage } from "../../support/sipcluster/stage.ts";

const RACKS = ["r1", "r2", "r3"].map((name) => ({
  name,
  flavors: { "control-plane": 1, worker: 1 },
}));
const READY = "True ReconciliationSucceeded";
const SPEC = toRackSpec({ controlPlanes: 1, workers: 1, nodePort: 30_001 });
const CALL = 'Internal error occurred: failed calling webhook "example.org": connection refused';

/** A webhook that does not answer. @returns What mends it */
function breakWebhook(stage: SipStage, resource: string): () => void {
  const answer = { status: 500, reason: "InternalError", message: CALL };
  return stage.kubernetes.faults.refuse({ verb: "patch", resource, ...answer });
}

test.each([
  ["hosts", "baremetalhosts", "False UnableToApplyLabels"],
  ["Deployments", "deployments", "False InfraServiceFailure"],
])("a cluster says that a webhook of %s fails for long", async (_what, resource, reason) => {
  await using stage = await SipStage.start(RACKS);
  const mend = breakWebhook(stage, resource);
  stage.create("a", SPEC);
  const says = await stage.untilCondition("a", "Ready", reason);
  expect(says).toContain(CALL);
  expect(says).toContain("Landfall tries again");
  mend();
  await stage.untilCondition("a", "Ready", READY, 20_000);
});

test("a cluster that is being deleted says what holds it", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", SPEC);
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const mend = breakWebhook(stage, "baremetalhosts");
  stage.delete("a");
  expect(await stage.untilCondition("a", "Ready", "False UnableToDecommission")).toContain(CALL);
  mend();
  await until("it is gone", () => stage.read("a") === undefined);
});

test.each([
  [403, "is forbidden"],
  [500, "unable to transform key"],
])(
  "a cluster takes another host than one whose Secret it cannot read (%d)",
  async (status, message) => {
    await using stage = await SipStage.start(RACKS);
    stage.create("a", SPEC);
    await stage.untilCondition("a", "Ready", READY);
    const name = "r2-worker-1-networkdata";
    const refusal = { verb: "get", resource: "secrets", name, status, message };
    const mend = stage.kubernetes.faults.refuse(refusal);
    stage.change("a", { nodes: { Worker: { count: { active: 2 } } } });
    await until("it has another", () => stage.listHosts("a").length === 3);
    expect(stage.listHosts("a")).toContain("r3-worker-1 Worker");
    await stage.untilCondition("a", "Ready", READY);
    stage.change("a", { nodes: { Worker: { count: { active: 3 } } } });
    const says = await stage.untilCondition("a", "Ready", "False UnableToReadNetworkData");
    expect(says).toContain("1 network data that the API server does not show. Cannot read");
    expect(says).toContain(message);
    mend();
    await stage.untilCondition("a", "Ready", READY);
  },
);
