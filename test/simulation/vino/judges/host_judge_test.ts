import { expect } from "bun:test";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { PAUSED } from "../../../../lib/simulator/metal3/kinds.ts";
import { type Act, type Case, RightWorld, testCases, VINO } from "./right_world.ts";
import { longTest } from "../../../support/long_tests.ts";

const HOSTS = `/apis/metal3.io/v1alpha1/namespaces/${VINO.namespace}/baremetalhosts`;
const SECRETS = `/api/v1/namespaces/${VINO.namespace}/secrets`;
const NAME = "core-worker-2";
const HOST = `${HOSTS}/${NAME}`;
const MACHINE_ID = "landfall.dev/machine-id";

function ask(method: "DELETE" | "PATCH" | "POST", path: string, body?: JsonObject): Act {
  return (right) => right.ask(method, path, body);
}

/** Lets a process make a host, others do something to it, and then a process. */
function after(others: JsonObject, method: "DELETE" | "PATCH", body?: JsonObject): Act[] {
  const metadata = { name: NAME, annotations: { [MACHINE_ID]: "1" } };
  const kind = { apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost" };
  const path = { namespace: VINO.namespace, name: NAME };
  return [
    ask("POST", HOSTS, { ...kind, metadata, spec: { online: true } }),
    ({ world }) => world.objects.patch("baremetalhosts", path, others),
    ask(method, HOST, body),
  ];
}

const LABELS = { metadata: { labels: { a: "b" } } };
const PAUSE = { metadata: { annotations: { [PAUSED]: "" } } };
const CONSUMER = { kind: "Metal3Machine", name: "m", namespace: VINO.namespace };
const USE = { spec: { consumerRef: CONSUMER } };
const FINALIZED = { metadata: { finalizers: ["a/b"] }, ...USE };
const FIRST_BMC = { spec: { online: false, bmc: { address: "a" } } };
const OTHER_BMC = { spec: { online: false, bmc: { address: "b" } } };
const OTHER_MACHINE = { metadata: { annotations: { [MACHINE_ID]: "2" } } };

const CASES: readonly Case[] = [
  ["a new host with new labels", after({}, "PATCH", LABELS)],
  ["a host that goes", after({}, "DELETE")],
  ["a paused host with new labels", after(PAUSE, "PATCH", LABELS), "which is paused"],
  ["a paused host that goes", after(PAUSE, "DELETE"), "which is paused"],
  ["a used host with new labels", after(USE, "PATCH", LABELS)],
  ["a used host that goes", after(USE, "DELETE"), "which is used"],
  ["a used host that goes as its finalizer does", after(FINALIZED, "DELETE"), "which is used"],
  [
    "a host that loses its consumer",
    after(USE, "PATCH", { spec: { consumerRef: null } }),
    "changes consumerRef",
  ],
  ["a host that gets an image", after({}, "PATCH", { spec: { image: { url: "a" } } }), "image"],
  ["a host that is switched off", after({}, "PATCH", { spec: { online: false } }), "online"],
  ["a host that is switched off as it gets its first BMC", after({}, "PATCH", FIRST_BMC)],
  [
    "a host that is switched off as it gets another BMC",
    after({ spec: { bmc: { address: "a" } } }, "PATCH", OTHER_BMC),
    "online",
  ],
  [
    "a host that becomes that of another machine",
    after({}, "PATCH", OTHER_MACHINE),
    "another machine",
  ],
  ...(
    [
      ["BareMetalHost", HOSTS, "core-worker-0"],
      ["Secret", SECRETS, "core-worker-0-network-data"],
    ] as const
  ).flatMap(([kind, path, name]): Case[] => [
    [
      `labels of a ${kind} that no process made`,
      ask("PATCH", `${path}/${name}`, LABELS),
      `changes ${kind} ${name} of others`,
    ],
    [
      `the end of a ${kind} that no process made`,
      ask("DELETE", `${path}/${name}`),
      `deletes ${kind} ${name} of others`,
    ],
  ]),
  [
    "a Secret of a process",
    [
      ask("POST", SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }),
      ask("PATCH", `${SECRETS}/a`, LABELS),
      ask("DELETE", `${SECRETS}/a`),
    ],
  ],
];

testCases("HostJudge judges", CASES);

longTest(
  "HostJudge judges a write by a process that does not hold the Lease, but not one of a Lease",
  async () => {
    await using right = await RightWorld.create();
    const { hostJudge } = right.world;
    const headers = {};
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/landfall-vino";
    hostJudge.noteSent("a1", { method: "GET", path: HOST, headers });
    hostJudge.noteSent("a1", { method: "PATCH", path: leases, headers });
    expect([hostJudge.violations, hostJudge.writes]).toEqual([[], 0]);
    hostJudge.noteSent("a1", { method: "PATCH", path: HOST, headers });
    expect(hostJudge.violations).toEqual([`a1 writes without the Lease: ${HOST}`]);
  },
);
