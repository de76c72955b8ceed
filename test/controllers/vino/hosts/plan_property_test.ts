/**
 * Plans for one host while people, metal3, Cluster API and the Vino change everything in any order.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  toBareMetalHost,
  toHostPatchBody,
} from "../../../../lib/controllers/vino/hosts/bare_metal_host_object.ts";
import { toHostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import {
  type HostPlan,
  planHost,
  planRemoval,
} from "../../../../lib/controllers/vino/hosts/plan.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { applyMergePatch } from "../../../../lib/simulator/kubernetes/patches/merge_patch.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";

const UID_LABEL = "landfall.dev/vino-uid";
const DETAILS = "inspect.metal3.io/hardwaredetails";
const RECORD = "landfall.dev/labels-from-vino";
/** Labels that only people set. */
const THEIRS = ["their", "their.example.org/a"];
/** Labels that the Vino may want, and that people may set, too. */
const SHARED = [
  "tier",
  "vino.airshipit.org/rack",
  "infrastructure.cluster.x-k8s.io/failure-domain",
];

const patch = (body: object): fc.Arbitrary<object> => fc.constant(body);
const label = (keys: readonly string[]): fc.Arbitrary<object> =>
  fc
    .tuple(fc.constantFrom(...keys), fc.constantFrom("x", "y", null))
    .map(([key, value]) => ({ metadata: { labels: { [key]: value } } }));
const annotation = (key: string, value: string | null): object => ({
  metadata: { annotations: { [key]: value } },
});

const edits = fc.oneof(
  label([...THEIRS, ...SHARED, "vino.airshipit.org/host", "topology.kubernetes.io/zone"]),
  patch(annotation("baremetalhost.metal3.io/paused", "")),
  patch(annotation("baremetalhost.metal3.io/paused", null)),
  patch(annotation("cluster.x-k8s.io/paused", "")),
  patch(annotation("cluster.x-k8s.io/paused", null)),
  patch(annotation(RECORD, null)),
  patch(annotation("landfall.dev/machine-id", null)),
  patch(annotation(DETAILS, null)),
  patch(annotation(DETAILS, "{}")),
  label(["vino.airshipit.org/network.oam", "vino.airshipit.org/network.pxe"]),
  patch({ metadata: { labels: { [UID_LABEL]: "another" } } }),
  patch({ metadata: { labels: { [UID_LABEL]: OWNER.uid } } }),
  patch({ metadata: { labels: { "sip.airshipit.org/cluster-name": "c" } } }),
  patch({ metadata: { labels: { "sip.airshipit.org/cluster-name": null } } }),
  patch({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  patch({ spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } }),
  patch({ spec: { consumerRef: null } }),
  fc
    .constantFrom("", "registering", "available", "provisioned", "externally provisioned")
    .map((state) => ({ status: { provisioning: { state } } })),
);

const wishes = fc
  .record({
    machineId: fc.constantFrom("vm-0", "vm-0", "vm-1"),
    hostId: fc.constantFrom("h1", "h2", undefined),
    bmhLabels: fc.dictionary(fc.constantFrom(...SHARED), fc.constantFrom("x", "y")),
    nodeLabelKeysToCopy: fc.subarray(["vino.airshipit.org/rack"]),
    failureDomain: fc.constantFrom("None", "Host", "Pool"),
    hasBmc: fc.boolean(),
    networks: fc.subarray(["oam", "pxe"]),
    isBuilt: fc.boolean(),
    cpus: fc.constantFrom(2, 4),
  })
  .map(({ machineId, hostId, hasBmc, isBuilt, cpus, ...source }): WantedHost => {
    const hardware = { ...toWanted().hardware, cpus };
    const machine = { poolId: "p1", firstHostId: "h1", ...(hostId !== undefined && { hostId }) };
    const bmc = hasBmc ? { bmc: BMC } : {};
    return toWanted(0, { machineId, isBuilt, hardware, ...bmc }, {
      ...source,
      machine,
    } as object);
  });

type Step =
  | { readonly do: "edit"; readonly body: object }
  | { readonly do: "publish"; readonly wanted: WantedHost }
  | { readonly do: "remove" | "lose" };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: edits.map((body): Step => ({ do: "edit", body })) },
    { weight: 4, arbitrary: wishes.map((wanted): Step => ({ do: "publish", wanted })) },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ do: "remove" }, { do: "lose" }) },
  ),
  { minLength: 1, maxLength: 25 },
);

/** What the API server would have after a change. A merge patch needs plain JSON. */
function apply(host: BareMetalHost | undefined, change: object): BareMetalHost {
  const base = structuredClone(host ?? {}) as JsonObject;
  return applyMergePatch(base, structuredClone(change) as JsonObject) as unknown as BareMetalHost;
}

function carryOut(
  host: BareMetalHost | undefined,
  { change }: HostPlan,
  wanted: WantedHost | undefined,
): BareMetalHost | undefined {
  if (change === undefined || change.kind === "delete") return change ? undefined : host;
  if (wanted === undefined) throw new Error("a host that is not wanted is only deleted");
  if (change.kind === "patch") return apply(host, toHostPatchBody("1", wanted, change.patch));
  const { metadata, ...rest } = toBareMetalHost(OWNER, wanted);
  return { ...rest, metadata: { ...metadata, uid: "u", resourceVersion: "1" } };
}

function check(before: BareMetalHost | undefined, { change, state }: HostPlan): void {
  if (before === undefined || change === undefined) return;
  const { metadata, spec } = before;
  const { annotations = {}, labels = {} } = metadata;
  expect(change.kind).not.toBe("create");
  expect(labels[UID_LABEL]).toBe(OWNER.uid);
  expect(Object.keys(annotations).filter((key) => key.endsWith("/paused"))).toEqual([]);
  expect(metadata.deletionTimestamp).toBeUndefined();
  if (change.kind !== "delete") return;
  expect(spec?.consumerRef).toBeUndefined();
  expect(before.status?.provisioning?.state).not.toBe("provisioned");
  expect(labels).not.toHaveProperty(["sip.airshipit.org/cluster-name"]);
  expect(["Removing", "Publishing"]).toContain(state);
}

/** The labels of people: those that only they set, and those of the others that no record has. */
function pickTheirs(host: BareMetalHost | undefined): Readonly<Record<string, string>> {
  const { labels = {}, annotations = {} } = host?.metadata ?? {};
  const record = (annotations[RECORD] ?? "").split(",");
  const isTheirs = (key: string): boolean =>
    THEIRS.includes(key) || (SHARED.includes(key) && !record.includes(key));
  return Object.fromEntries(Object.entries(labels).filter(([key]) => isTheirs(key)));
}

test("a plan never touches what is not ours, and after it there is nothing to do", () => {
  fc.assert(
    fc.property(steps, (all) => {
      let host: BareMetalHost | undefined;
      for (const step of all) {
        if (step.do === "edit") host = host && apply(host, step.body);
        else if (step.do === "lose") host = undefined;
        else {
          const wanted = step.do === "publish" ? step.wanted : undefined;
          const plan = (live: BareMetalHost | undefined): HostPlan => {
            const facts = live && toHostFacts(live);
            const surroundings = { vinoUid: OWNER.uid };
            return wanted === undefined
              ? planRemoval("edge-worker-0", facts, surroundings)
              : planHost(wanted, facts, surroundings);
          };
          const first = plan(host);
          check(host, first);
          const after = carryOut(host, first, wanted);
          if (host !== undefined && after !== undefined) {
            expect(after.metadata.labels).toMatchObject(pickTheirs(host));
            // What metal3 has read never comes back.
            const hadDetails = DETAILS in (host.metadata.annotations ?? {});
            if (!hadDetails) expect(after.metadata.annotations ?? {}).not.toContainKey(DETAILS);
          }
          // A host that is made again is made at the next look.
          const rest = carryOut(after, plan(after), wanted);
          expect(plan(rest).change).toBeUndefined();
          if (after !== undefined) expect(plan(after).change).toBeUndefined();
          host = rest;
        }
      }
    }),
    { numRuns: 500 },
  );
});
