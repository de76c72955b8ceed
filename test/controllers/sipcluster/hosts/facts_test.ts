/**
 * What hosts say about who may have them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  findLabelled,
  hasSameFacts,
  isLabelled,
  toHostFacts,
} from "../../../../lib/controllers/sipcluster/hosts/facts.ts";
import { type HostInput, toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

const CONSUMER = { consumerRef: { kind: "Metal3Machine", name: "m", namespace: "metal3" } };
const toStatus = (state: string): { provisioning: { state: string } } => ({
  provisioning: { state },
});
const annotate = (key: string): HostInput => ({ annotations: { [key]: "" } });

test("toHostFacts() tells hosts of the same name in two namespaces apart", () => {
  const keys = ["a", "b"].map((namespace) => toHostFacts(toHost("h", { namespace })).key);
  expect(keys).toEqual(["a/h", "b/h"]);
});

test.each<[string, HostInput]>([
  ["without a state: nothing of metal3 runs", {}],
  [
    "without a management controller, not seen by metal3, and labelled for that",
    { labels: { "landfall.dev/without-metal3": "" }, spec: { bmc: null } },
  ],
  [
    "without a management controller, and labelled for that",
    {
      labels: { "landfall.dev/without-metal3": "" },
      status: { ...toStatus("unmanaged"), operationalStatus: "discovered" },
    },
  ],
  ["that is available", { status: { ...toStatus("available"), operationalStatus: "OK" } }],
  ["that is ready, as older versions say", { status: toStatus("ready") }],
  [
    "that a Vino installed",
    { labels: { "landfall.dev/vino-uid": "u" }, status: toStatus("externally provisioned") },
  ],
  ["without an error", { status: { errorMessage: "" } }],
])("toHostFacts() finds no trouble with a host %s", (_what, input) => {
  expect(toHostFacts(toHost("h", input)).trouble).toBeUndefined();
});

test.each<[string, HostInput]>([
  ["paused", annotate("baremetalhost.metal3.io/paused")],
  ["detached", annotate("baremetalhost.metal3.io/detached")],
  ["detached", { status: { operationalStatus: "detached" } }],
  ["unhealthy", annotate("capm3.metal3.io/unhealthy")],
  ["unhealthy", annotate("capi.metal3.io/unhealthy")],
  ["in error", { status: { operationalStatus: "error" } }],
  ["in error", { status: { ...toStatus("available"), errorMessage: "no power" } }],
  ["used by another consumer", { spec: CONSUMER }],
  ["used by another consumer", { spec: { consumerRef: {} } }],
  ["registering", { status: toStatus("registering") }],
  ["inspecting", { status: toStatus("inspecting") }],
  ["being prepared", { status: toStatus("preparing") }],
  ["provisioned", { status: toStatus("provisioning") }],
  ["provisioned", { status: toStatus("provisioned") }],
  ["provisioned", { spec: { image: { url: "https://images.example/a" } } }],
  ["provisioned", { spec: { customDeploy: { method: "x" } }, status: toStatus("available") }],
  ["being deprovisioned", { status: toStatus("deprovisioning") }],
  ["being deleted", { status: toStatus("powering off before delete") }],
  ["unmanaged (not for Cluster API)", { status: toStatus("unmanaged") }],
  ["unmanaged (not for Cluster API)", { spec: { bmc: { address: "" } } }],
  ["externally provisioned (not for Cluster API)", { spec: { externallyProvisioned: true } }],
  ["in an unknown state", { status: toStatus("constructor") }],
  [
    "labelled for a SIPCluster that does not have it",
    { labels: { "sip.airshipit.org/cluster-name": "a" } },
  ],
  ["labelled for a SIPCluster that does not have it", { labels: toClaimLabels("a") }],
])("toHostFacts() says why a host cannot be taken: %s", (trouble, input) => {
  expect(toHostFacts(toHost("h", input)).trouble).toBe(trouble);
});

test("toHostFacts() says that a host is being deleted, paused or not, and touches no paused one", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const host = toHost("h", annotate("baremetalhost.metal3.io/paused"), deleted);
  expect(toHostFacts(host)).toMatchObject({ trouble: "being deleted", isUntouchable: true });
});

describe("a host of a cluster", () => {
  const labels = toClaimLabels("a", { role: "ControlPlane", standby: true });
  const assigned = { cluster: "tenant/a", role: "ControlPlane", standby: true } as const;

  test.each<[string, HostInput, boolean]>([
    ["is being inspected again", { status: toStatus("inspecting") }, false],
    ["is available", { status: toStatus("available") }, false],
    ["has its consumer", { spec: CONSUMER }, true],
    ["is being provisioned", { status: toStatus("provisioning") }, true],
    ["has an image and no state", { spec: { image: { url: "https://images.example/a" } } }, true],
    ["has an image without a URL", { spec: { image: { url: "" } } }, false],
    ["is provisioned", { spec: CONSUMER, status: toStatus("provisioned") }, true],
    ["is being deprovisioned", { status: toStatus("deprovisioning") }, true],
    ["was installed otherwise", { status: toStatus("externally provisioned") }, true],
  ])("has no trouble while it %s", (_what, input, isInUse) => {
    const { trouble, isInUse: isUsed } = toHostFacts(toHost("h", { labels, ...input }), assigned);
    expect([trouble, isUsed]).toEqual([undefined, isInUse]);
  });

  test.each<[string, HostInput, boolean | undefined]>([
    ["paused", annotate("baremetalhost.metal3.io/paused"), true],
    ["unhealthy", annotate("capm3.metal3.io/unhealthy"), undefined],
    ["in error", { status: { operationalStatus: "error" } }, undefined],
  ])("may be %s", (trouble, input, isUntouchable) => {
    const facts = toHostFacts(toHost("h", { labels, ...input }), assigned);
    expect([facts.trouble, facts.isUntouchable]).toEqual([trouble, isUntouchable]);
  });
});

test.each<[string, Record<string, string> | undefined, string | undefined, boolean]>([
  ["no labels", undefined, undefined, false],
  ["other labels", { rack: "r1" }, undefined, false],
  ["a claim", toClaimLabels("a"), "tenant/a", true],
  ["only the name", { "sip.airshipit.org/cluster-name": "a" }, undefined, true],
  ["only the namespace", { "sip.airshipit.org/cluster-namespace": "a" }, undefined, false],
])("findLabelled() and isLabelled() with %s", (_what, labels, cluster, isAny) => {
  expect([findLabelled(labels), isLabelled(labels)]).toEqual([cluster, isAny]);
});

test.each<[string, HostInput, boolean]>([
  ["a report of the hardware", { status: { hardware: { cpu: 1 }, poweredOn: true } }, true],
  ["an annotation of others", { annotations: { "example.org/x": "1" } }, true],
  ["a step that does not matter", { status: { operationalStatus: "OK" } }, true],
  ["a state in which it can be installed", { status: toStatus("available") }, false],
  ["another text of a label", { labels: { rack: "r2" } }, false],
  ["one more label", { labels: { rack: "r1", row: "1" } }, false],
  ["a consumer", { spec: CONSUMER }, false],
  ["trouble", { status: { operationalStatus: "error" } }, false],
  ["an installation by another program", { status: toStatus("externally provisioned") }, false],
])("hasSameFacts() after %s", (_what, change, expected) => {
  const before = { labels: { rack: "r1" } };
  const [one, other] = [before, { ...before, ...change }].map((input) =>
    toHostFacts(toHost("h", input)),
  );
  if (one === undefined || other === undefined) throw new TypeError("two hosts");
  expect(hasSameFacts(one, other)).toBe(expected);
});
