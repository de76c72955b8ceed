import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { type Access, listElectionRights, reviewAccess } from "../../../lib/kube/access/rights.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { connect } from "../../support/kube/connect.ts";

const signal = new AbortController().signal;
const WANTED: readonly Access[] = [
  { group: "", resource: "nodes", verb: "delete" },
  { group: "", resource: "nodes", subresource: "status", verb: "patch" },
  { group: "coordination.k8s.io", resource: "leases", verb: "get", namespace: "kube-system" },
];

let kubernetes: KubernetesSimulator;
let client: KubeClient;

beforeAll(async () => {
  kubernetes = startKubernetesSimulator({ clock: systemClock });
  client = await connect({ master: kubernetes.url });
});
afterAll(async () => {
  client.close();
  await kubernetes.stop();
});
beforeEach(() => kubernetes.faults.clear());

describe("reviewAccess()", () => {
  test("answers each question in its place", async () => {
    kubernetes.faults.deny({ verb: "patch", resource: "nodes/status" });
    const answers = await reviewAccess(client, WANTED, signal);
    expect(answers.map(({ allowed }) => allowed)).toEqual(["yes", "no", "yes"]);
    expect(answers[0]?.reason).toBe("the simulator allows it");
    expect(answers[1]).toEqual({ allowed: "no" });
  });

  test("names group, namespace and subresource", async () => {
    kubernetes.faults.deny({ resource: "leases", namespace: "kube-system" });
    const answers = await reviewAccess(client, WANTED, signal);
    expect(answers.map(({ allowed }) => allowed)).toEqual(["yes", "yes", "no"]);
  });

  test("knows no answer when the server refuses to say", async () => {
    const clock = new ManualClock();
    const stranger = new ScriptedKubeClient(clock);
    stranger.onWrite = () => ({ metadata: {}, status: { allowed: "yes" } });
    expect(await reviewAccess(stranger, WANTED.slice(0, 1), signal)).toEqual([
      { allowed: "unknown", reason: "the answer is not an access review" },
    ]);
    const written = stranger.writes[0]?.body;
    expect(written).toEqual({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: WANTED[0] },
    });
  });

  test("tells why the server refuses to say", async () => {
    kubernetes.faults.refuse({ status: 403 });
    const [answer] = await reviewAccess(client, WANTED.slice(0, 1), signal);
    expect(answer?.allowed).toBe("unknown");
    expect(answer?.reason).toContain("403 Forbidden");
  });

  test("rejects with the reason of a signal that aborts", async () => {
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(reviewAccess(client, WANTED, aborted)).rejects.toThrow("stop");
  });
});

test("listElectionRights() names the Lease, but not to create it: RBAC cannot know the name then", () => {
  const accesses = listElectionRights({ namespace: "a", name: "b" }).map(({ access }) => access);
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: "a" };
  expect(accesses).toEqual([
    { ...lease, name: "b", verb: "get" },
    { ...lease, verb: "create" },
    { ...lease, name: "b", verb: "update" },
  ]);
});
