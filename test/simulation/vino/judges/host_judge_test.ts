import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { PAUSED } from "../../../../lib/simulator/metal3/kinds.ts";
import { RightWorld, VINO } from "./right_world.ts";

/** What a process does in a right world, and what is said about it; nothing if it may. */
type Case = readonly [what: string, act: (right: RightWorld) => Promise<void>, say: string];

const HOSTS = `/apis/metal3.io/v1alpha1/namespaces/${VINO.namespace}/baremetalhosts`;
const SECRETS = `/api/v1/namespaces/${VINO.namespace}/secrets`;
const NAME = "core-worker-2";
const HOST = `${HOSTS}/${NAME}`;
const CONSUMER = { kind: "Metal3Machine", name: "m", namespace: VINO.namespace };
const MACHINE_ID = "landfall.dev/machine-id";

/** Makes a host as a process does. */
function make(right: RightWorld, spec: JsonObject = {}): Promise<void> {
  const metadata = { name: NAME, annotations: { [MACHINE_ID]: "1" } };
  const kind = { apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost" };
  return right.ask("POST", HOSTS, { ...kind, metadata, spec: { online: true, ...spec } });
}

/** Changes the host as a person or metal3 does. */
function change({ world }: RightWorld, patch: JsonObject): void {
  world.objects.patch("baremetalhosts", { namespace: VINO.namespace, name: NAME }, patch);
}

/** Makes a host, lets others do something to it, and then a process. */
function after(
  others: JsonObject,
  method: "DELETE" | "PATCH",
  body?: JsonObject,
): (right: RightWorld) => Promise<void> {
  return async (right) => {
    await make(right);
    change(right, others);
    await right.ask(method, HOST, body);
  };
}

const LABELS = { metadata: { labels: { a: "b" } } };
const PAUSE = { metadata: { annotations: { [PAUSED]: "" } } };

const CASES: readonly Case[] = [
  ["a new host with new labels", after({}, "PATCH", LABELS), ""],
  ["a host that goes", after({}, "DELETE"), ""],
  ["a paused host with new labels", after(PAUSE, "PATCH", LABELS), "which is paused"],
  ["a paused host that goes", after(PAUSE, "DELETE"), "which is paused"],
  ["a used host with new labels", after({ spec: { consumerRef: CONSUMER } }, "PATCH", LABELS), ""],
  ["a used host that goes", after({ spec: { consumerRef: CONSUMER } }, "DELETE"), "which is used"],
  [
    "a used host that goes as soon as its finalizer does",
    after({ metadata: { finalizers: ["a/b"] }, spec: { consumerRef: CONSUMER } }, "DELETE"),
    "which is used",
  ],
  [
    "a host that loses its consumer",
    after({ spec: { consumerRef: CONSUMER } }, "PATCH", { spec: { consumerRef: null } }),
    "changes consumerRef",
  ],
  ["a host that gets an image", after({}, "PATCH", { spec: { image: { url: "a" } } }), "image"],
  ["a host that is switched off", after({}, "PATCH", { spec: { online: false } }), "online"],
  [
    "a host that is switched off as it gets its first management controller",
    after({}, "PATCH", { spec: { online: false, bmc: { address: "a" } } }),
    "",
  ],
  [
    "a host that is switched off as it gets another management controller",
    after({ spec: { bmc: { address: "a" } } }, "PATCH", {
      spec: { online: false, bmc: { address: "b" } },
    }),
    "online",
  ],
  [
    "a host that becomes that of another machine",
    after({}, "PATCH", { metadata: { annotations: { [MACHINE_ID]: "2" } } }),
    "another machine",
  ],
  [
    "labels of a host that no process made",
    (right) => right.ask("PATCH", `${HOSTS}/core-worker-0`, LABELS),
    "changes BareMetalHost core-worker-0 of others",
  ],
  [
    "the end of a host that no process made",
    (right) => right.ask("DELETE", `${HOSTS}/core-worker-0`),
    "deletes BareMetalHost core-worker-0 of others",
  ],
  [
    "labels of a Secret that no process made",
    (right) => right.ask("PATCH", `${SECRETS}/core-worker-0-network-data`, LABELS),
    "changes Secret core-worker-0-network-data of others",
  ],
  [
    "the end of a Secret that no process made",
    (right) => right.ask("DELETE", `${SECRETS}/core-worker-0-network-data`),
    "deletes Secret core-worker-0-network-data of others",
  ],
  [
    "a Secret of a process",
    async (right) => {
      const metadata = { name: "a" };
      await right.ask("POST", SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
      await right.ask("PATCH", `${SECRETS}/a`, LABELS);
      await right.ask("DELETE", `${SECRETS}/a`);
    },
    "",
  ],
];

describe("HostJudge", () => {
  test.each(CASES)("judges %s", async (_, act, say) => {
    using right = await RightWorld.create();
    const { hostJudge } = right.world;
    await act(right);
    expect(hostJudge.violations.filter((one) => !one.includes(say))).toEqual([]);
    expect(hostJudge.violations.length > 0).toBe(say !== "");
    expect(hostJudge.writes).toBeGreaterThan(0);
  });

  test("judges a write by a process that does not hold the Lease, but not one of a Lease", async () => {
    using right = await RightWorld.create();
    const { hostJudge } = right.world;
    const headers = {};
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/landfall-vino";
    hostJudge.noteSent("a1", { method: "GET", path: HOST, headers });
    hostJudge.noteSent("a1", { method: "PATCH", path: leases, headers });
    expect(hostJudge.violations).toEqual([]);
    hostJudge.noteSent("a1", { method: "PATCH", path: HOST, headers });
    expect(hostJudge.violations).toEqual([`a1 writes without the Lease: ${HOST}`]);
  });
});
