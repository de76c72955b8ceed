/**
 * How a decision becomes labels, and what the Events say about it.
 * @module
 */
import { expect, test } from "bun:test";
import type { ClaimResult, HostClaims } from "../../../lib/controllers/sipcluster/hosts/claims.ts";
import { toHostFacts } from "../../../lib/controllers/sipcluster/hosts/facts.ts";
import {
  applySchedule,
  describeKept,
  releaseAll,
} from "../../../lib/controllers/sipcluster/membership.ts";
import type { SipCluster } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { HostFacts, Schedule } from "../../../lib/controllers/sipcluster/schedule/types.ts";
import { createSipClusterMetrics } from "../../../lib/controllers/sipcluster/state.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { toClaimLabels, toHost } from "../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(5_000);
const CLUSTER: SipCluster = {
  metadata: { name: "a", namespace: "tenant" },
  spec: { services: {} },
};
const NOTHING: Schedule = {
  keep: [],
  add: [],
  giveBack: [],
  blocked: [],
  reports: new Map(),
  isSatisfied: true,
  isProven: true,
  notes: [],
  breaches: [],
};
const WORKER = { role: "Worker", standby: false } as const;

interface Stage {
  readonly asked: readonly string[];
  readonly said: readonly string[];
  readonly options: Parameters<typeof releaseAll>[2];
}

/** The facts of a host that the cluster records if it has labels. */
function toFacts(host: BareMetalHost): HostFacts {
  const assigned = { cluster: "tenant/a", ...WORKER };
  return toHostFacts(host, host.metadata.labels && assigned);
}

/** Claims that answer as a test says, else `done`, and what was asked of them. */
function stage(
  hosts: readonly BareMetalHost[],
  answers: Readonly<Record<string, ClaimResult>> = {},
): Stage {
  const asked: string[] = [];
  const said: string[] = [];
  const answer = (what: string, host: BareMetalHost): Promise<ClaimResult> => {
    asked.push(`${what} ${host.metadata.name}`);
    return Promise.resolve(answers[host.metadata.name] ?? { kind: "done", host });
  };
  const claims: Pick<HostClaims, "take" | "assign" | "giveBack"> = {
    take: (host) => answer("take", host),
    assign: (host) => answer("assign", host),
    giveBack: (host, spares) => answer(`give back (${spares})`, host),
  };
  const find = (key: string): BareMetalHost | undefined =>
    hosts.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
  const findFacts = (key: string): HostFacts | undefined => {
    const host = find(key);
    return host && toFacts(host);
  };
  const listOf = (): HostFacts[] => hosts.map(toFacts);
  const events = {
    record: (_object: object, event: { readonly reason: string; readonly message: string }) =>
      void said.push(`${event.reason} ${event.message}`),
  };
  const metrics = createSipClusterMetrics(new MetricsRegistry());
  const options = {
    index: { find, findFacts, listOf },
    claims,
    events,
    metrics,
    log: silentLogger,
  };
  return { asked, said, options };
}

test("applySchedule() changes what stays, then takes, then gives back, and says so", async () => {
  const hosts = [
    toHost("kept", { labels: toClaimLabels("a") }),
    toHost("spare", { labels: toClaimLabels("a", { standby: true }) }),
    toHost("new"),
    toHost("old", { labels: toClaimLabels("a") }),
  ];
  const { asked, said, options } = stage(hosts);
  const choice: Schedule = {
    ...NOTHING,
    keep: [
      { host: "metal3/kept", ...WORKER },
      { host: "metal3/spare", ...WORKER },
    ],
    add: [{ host: "metal3/new", role: "ControlPlane", standby: true }],
    giveBack: [{ host: "metal3/old", ...WORKER, why: "more than wanted" }],
  };
  expect(await applySchedule(CLUSTER, choice, options, signal)).toEqual({
    isOvertaken: false,
    unmoved: new Set(),
  });
  expect(asked).toEqual(["assign spare", "take new", "give back (inUse) old"]);
  expect(said).toEqual([
    "HostTaken BareMetalHost metal3/spare is Worker of the cluster",
    "HostTaken BareMetalHost metal3/new is a standby ControlPlane of the cluster",
    "HostReleased BareMetalHost metal3/old does not belong to the cluster any more: more than wanted",
  ]);
});

test("applySchedule() gives nothing back if another program was quicker with a new host", async () => {
  const hosts = [toHost("new"), toHost("old", { labels: toClaimLabels("a") })];
  const { asked, said, options } = stage(hosts, { new: { kind: "lost", why: "taken by t/b" } });
  const choice: Schedule = {
    ...NOTHING,
    add: [{ host: "metal3/new", ...WORKER }],
    giveBack: [{ host: "metal3/old", ...WORKER, why: "in error" }],
  };
  expect(await applySchedule(CLUSTER, choice, options, signal)).toMatchObject({
    isOvertaken: true,
  });
  expect(asked).toEqual(["take new"]);
  expect(said).toEqual([
    "HostLost BareMetalHost metal3/new cannot be taken any more: taken by t/b",
  ]);
});

test("applySchedule() may give back hosts in use if the spec says so, but no paused ones", async () => {
  const { asked, options } = stage([toHost("old", { labels: toClaimLabels("a") })]);
  const spec = { services: {}, scheduling: { releaseConsumedHosts: true } };
  const giveBack = [{ host: "metal3/old", ...WORKER, why: "more than wanted" }];
  await applySchedule({ ...CLUSTER, spec }, { ...NOTHING, giveBack }, options, signal);
  expect(asked).toEqual(["give back (paused) old"]);
});

test.each([
  [false, "occupied"],
  [true, "none"],
])("releaseAll() names hosts that stay (forced: %p)", async (isForced, spares) => {
  const hosts = ["a", "b"].map((name) => toHost(name, { labels: toClaimLabels("a") }));
  const { asked, said, options } = stage(hosts, { a: { kind: "kept", why: "paused" } });
  const { kept } = await releaseAll(
    CLUSTER,
    { own: hosts, claimants: [], isForced },
    options,
    signal,
  );
  expect(kept).toEqual(["metal3/a (paused)"]);
  expect(asked).toEqual([`give back (${spares}) a`, `give back (${spares}) b`]);
  expect(said).toHaveLength(1);
});

test("releaseAll() tells that another program was quicker with a host", async () => {
  const hosts = [toHost("a", { labels: toClaimLabels("a") })];
  const { options } = stage(hosts, {
    a: { kind: "lost", why: "changed by another program" },
  });
  expect(
    await releaseAll(CLUSTER, { own: hosts, claimants: [], isForced: false }, options, signal),
  ).toEqual({
    kept: [],
    isOvertaken: true,
  });
});

test("describeKept() says what to do about hosts in use and paused hosts", () => {
  const kept = ["metal/a (in use)", "metal/b (paused)"];
  const hosts = "The cluster cannot release hosts yet: metal/a (in use), metal/b (paused)";
  const unpause = "Remove the annotation baremetalhost.metal3.io/paused from hosts that are paused";
  const advice =
    `${hosts}. Delete what uses hosts in use, or set the annotation landfall.dev/force-release=true on this ` +
    `SIPCluster to release them anyway. ${unpause}`;
  expect(describeKept(kept, undefined)).toBe(advice);
  expect(describeKept(kept, "true")).toBe(`${hosts}. ${unpause}`);
  expect(describeKept(kept, "yes")).toBe(
    `${advice}. The annotation landfall.dev/force-release has another value than "true", so it has no effect`,
  );
});
