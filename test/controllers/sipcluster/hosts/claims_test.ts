/**
 * Who gets a host, also when several programs want it at once.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
} from "../../../../lib/kube/kinds/bare_metal_host.ts";
import {
  type ClaimResult,
  HostClaims,
  type Sparing,
} from "../../../../lib/controllers/sipcluster/hosts/claims.ts";
import { HostIndex } from "../../../../lib/controllers/sipcluster/hosts/host_index.ts";
import type { HostFacts } from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { isKubeError } from "../../../../lib/kube/api/errors.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import type { KubeObject } from "../../../../lib/kube/kinds/resource.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  type HostInput,
  type HostServer,
  startHostServer,
  toClaimLabels,
  toRecording,
} from "../../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(20_000);
const RACK = { rack: "r1" };
const WORKER = { role: "Worker", standby: false } as const;
const CONSUMER = {
  spec: { consumerRef: { kind: "Metal3Machine", name: "m", namespace: "metal3" } },
};
const PAUSE = { metadata: { annotations: { "baremetalhost.metal3.io/paused": "" } } };

interface Stage extends AsyncDisposable {
  readonly server: HostServer;
  readonly claims: HostClaims;
  /** What other programs do right before each patch of ours, in order. */
  readonly intrusions: (() => void)[];
}

/** The claims of `tenant/a`. */
async function start(): Promise<Stage> {
  const server = await startHostServer();
  const { client } = server;
  const intrusions: (() => void)[] = [];
  const rushed: Pick<KubeClient, "read" | "patch"> = {
    read: (...args) => client.read(...args),
    patch: (...args) => {
      intrusions.shift()?.();
      return client.patch(...args);
    },
  };
  const claims = new HostClaims("tenant/a", { client: rushed });
  return {
    server,
    claims,
    intrusions,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("take()", () => {
  test("labels a host, and removes nothing", async () => {
    await using stage = await start();
    const host = stage.server.create("h", { labels: RACK });
    const result = await stage.claims.take(host, { role: "ControlPlane", standby: true }, signal);
    expect(result.kind).toBe("done");
    const labels = { ...RACK, ...toClaimLabels("a", { role: "ControlPlane", standby: true }) };
    expect(stage.server.findLabels("h")).toEqual(labels);
    expect(stage.server.takeRequests()).toEqual(["patch baremetalhosts h"]);
  });

  test("labels a host that has no labels at all", async () => {
    await using stage = await start();
    await stage.claims.take(stage.server.create("h"), WORKER, signal);
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("a"));
  });

  test("reports the host as it is then", async () => {
    await using stage = await start();
    const host = stage.server.create("h");
    const result = await stage.claims.take(host, WORKER, signal);
    const now = stage.server.find("h");
    expect(result).toEqual({ kind: "done", host: now as BareMetalHost });
  });

  test("loses to a program that took the host between read and patch", async () => {
    await using stage = await start();
    const host = stage.server.create("h");
    stage.intrusions.push(
      () => void stage.server.change("h", { metadata: { labels: toClaimLabels("b") } }),
    );
    const result = await stage.claims.take(host, WORKER, signal);
    expect(result).toEqual({ kind: "lost", why: "labelled for tenant/b" });
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("b"));
  });

  test.each<[string, JsonObject, string]>([
    ["that Cluster API uses meanwhile", CONSUMER, "used by another consumer"],
    ["that was paused meanwhile", PAUSE, "paused"],
    ["whose other labels changed meanwhile", { metadata: { labels: RACK } }, "its labels changed"],
    [
      "with half of a claim",
      { metadata: { labels: { "sip.airshipit.org/cluster-name": "b" } } },
      "labelled for another",
    ],
  ])("does not take a host %s", async (_what, patch, why) => {
    await using stage = await start();
    const host = stage.server.create("h");
    stage.intrusions.push(() => void stage.server.change("h", patch));
    expect(await stage.claims.take(host, WORKER, signal)).toEqual({ kind: "lost", why });
    expect(stage.server.findLabels("h")).not.toHaveProperty("sip.airshipit.org/node-type");
  });

  test("tries once more if the change does not matter", async () => {
    await using stage = await start();
    const host = stage.server.create("h");
    stage.intrusions.push(() => void stage.server.change("h", { spec: { online: true } }));
    expect((await stage.claims.take(host, WORKER, signal)).kind).toBe("done");
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("a"));
  });

  test("gives up when the host changes all the time", async () => {
    await using stage = await start();
    const host = stage.server.create("h");
    const spin = (): void => void stage.server.change("h", { spec: { n: Math.random() } });
    stage.intrusions.push(spin, spin, spin);
    const result = await stage.claims.take(host, WORKER, signal);
    expect(result).toEqual({ kind: "lost", why: "changed by another program" });
    expect(stage.server.findLabels("h")).toEqual({});
  });

  test("counts its own write whose answer was lost", async () => {
    await using stage = await start();
    const host = stage.server.create("h");
    stage.intrusions.push(
      () => void stage.server.change("h", { metadata: { labels: toClaimLabels("a") } }),
    );
    expect((await stage.claims.take(host, WORKER, signal)).kind).toBe("done");
  });

  test("finds out that the host is gone, or that another one has its name", async () => {
    await using stage = await start();
    const { objects } = stage.server.kubernetes;
    const [old, gone] = [stage.server.create("old"), stage.server.create("gone")];
    const path = (name: string): { name: string; namespace: string } => ({
      name,
      namespace: "metal3",
    });
    objects.delete("baremetalhosts", path("gone"));
    objects.delete("baremetalhosts", path("old"));
    stage.server.create("old");
    for (const host of [old, gone]) {
      expect(await stage.claims.take(host, WORKER, signal)).toEqual({ kind: "gone" });
    }
    expect(stage.server.findLabels("old")).toEqual({});
  });

  test.each<[number, "forbidden" | "unavailable"]>([
    [403, "forbidden"],
    [500, "unavailable"],
  ])("throws on status %d", async (status, kind) => {
    await using stage = await start();
    const host = stage.server.create("h");
    stage.server.kubernetes.faults.refuse({ verb: "patch", resource: "baremetalhosts", status });
    const failure = await stage.claims.take(host, WORKER, signal).catch((error: unknown) => error);
    expect(isKubeError(failure, kind)).toBe(true);
  });
});

describe("giveBack()", () => {
  const OURS: HostInput = { labels: { ...RACK, ...toClaimLabels("a", { standby: true }) } };

  test("removes all labels of the claim, and no other", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    expect((await stage.claims.giveBack(host, "inUse", signal)).kind).toBe("done");
    expect(stage.server.findLabels("h")).toEqual(RACK);
  });

  test.each<[string, HostInput, Sparing, string]>([
    ["in use", { ...OURS, ...CONSUMER }, "inUse", "used by a consumer"],
    [
      "in use, even if it is consumed only",
      { ...OURS, ...CONSUMER },
      "occupied",
      "used by a consumer",
    ],
    [
      "that metal3 installed, of a cluster that is being deleted",
      { ...OURS, status: { provisioning: { state: "provisioned" } } },
      "occupied",
      "provisioned",
    ],
    [
      "that is to get an image",
      { ...OURS, spec: { image: { url: "https://x.example/i" } } },
      "occupied",
      "provisioned",
    ],
    [
      "with an image",
      { ...OURS, status: { provisioning: { state: "provisioned" } } },
      "inUse",
      "provisioned",
    ],
    ["that is paused", { ...OURS, ...PAUSE.metadata }, "occupied", "paused"],
    ["that is paused, if all others go", { ...OURS, ...PAUSE.metadata }, "paused", "paused"],
  ])("keeps a host %s", async (_what, input, spares, why) => {
    await using stage = await start();
    const host = stage.server.create("h", input);
    expect(await stage.claims.giveBack(host, spares, signal)).toEqual({ kind: "kept", why });
    expect(stage.server.findLabels("h")).toEqual(OURS.labels ?? {});
  });

  test.each<[string, HostInput, Sparing]>([
    ["consumed", { ...OURS, ...CONSUMER }, "none"],
    ["consumed", { ...OURS, ...CONSUMER }, "paused"],
    ["paused", { ...OURS, ...PAUSE.metadata }, "none"],
    [
      "provisioned by another program",
      { ...OURS, status: { provisioning: { state: "externally provisioned" } } },
      "occupied",
    ],
  ])("gives back a host that is %s if asked to", async (_what, input, spares) => {
    await using stage = await start();
    const host = stage.server.create("h", input);
    expect((await stage.claims.giveBack(host, spares, signal)).kind).toBe("done");
    expect(stage.server.findLabels("h")).toEqual(RACK);
  });

  test("keeps a host that Cluster API began to use after the decision", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    stage.server.change("h", CONSUMER);
    expect((await stage.claims.giveBack(host, "inUse", signal)).kind).toBe("kept");
  });

  test("keeps a host that Cluster API begins to use between its read and its patch", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    stage.intrusions.push(() => void stage.server.change("h", CONSUMER));
    expect((await stage.claims.giveBack(host, "inUse", signal)).kind).toBe("kept");
    expect(stage.server.findLabels("h")).toEqual(OURS.labels ?? {});
  });

  test("leaves a host alone that another cluster has by now", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    stage.server.change("h", { metadata: { labels: toClaimLabels("b") } });
    stage.server.takeRequests();
    expect((await stage.claims.giveBack(host, "none", signal)).kind).toBe("done");
    expect(stage.server.takeRequests()).toEqual(["get baremetalhosts h"]);
  });

  test("finds out that the host is gone", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    stage.server.kubernetes.objects.delete("baremetalhosts", { name: "h", namespace: "metal3" });
    expect(await stage.claims.giveBack(host, "inUse", signal)).toEqual({ kind: "gone" });
  });

  test("writes nothing if the host cannot be read", async () => {
    await using stage = await start();
    const host = stage.server.create("h", OURS);
    stage.server.kubernetes.faults.refuse({ verb: "get", resource: "baremetalhosts", status: 403 });
    const failure = await stage.claims
      .giveBack(host, "none", signal)
      .catch((error: unknown) => error);
    expect(isKubeError(failure, "forbidden")).toBe(true);
    expect(stage.server.findLabels("h")).toEqual(OURS.labels ?? {});
  });
});

describe("assign()", () => {
  const STANDBY = { role: "Worker", standby: true, isMoved: false } as const;
  const ACTIVE = { ...WORKER, isMoved: false } as const;
  const IMAGED = { provisioning: { state: "provisioned" } };

  test("makes a host standby, and active again", async () => {
    await using stage = await start();
    const host = stage.server.create("h", { labels: toClaimLabels("a") });
    const result = await stage.claims.assign(host, STANDBY, signal);
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("a", { standby: true }));
    if (result.kind !== "done") throw new TypeError(result.kind);
    await stage.claims.assign(result.host, ACTIVE, signal);
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("a"));
  });

  test.each([
    ["ControlPlane", toClaimLabels("a", { role: "ControlPlane" })],
    ["Storage", toClaimLabels("a", { role: "Storage" })],
    ["none, without any label", {}],
    ["those of another cluster", toClaimLabels("b")],
  ])("gives a host its labels back: it had %s", async (_what, labels) => {
    await using stage = await start();
    const host = stage.server.create("h", { labels, ...CONSUMER, status: IMAGED });
    await stage.claims.assign(host, ACTIVE, signal);
    expect(stage.server.findLabels("h")).toEqual(toClaimLabels("a"));
  });

  test.each<[string, HostInput, "done" | "kept"]>([
    [
      "only makes a host that is in use active",
      { labels: toClaimLabels("a", { standby: true }) },
      "done",
    ],
    [
      "never moves one to another role",
      { labels: toClaimLabels("a", { role: "ControlPlane" }) },
      "kept",
    ],
  ])("%s", async (_what, input, kind) => {
    await using stage = await start();
    const host = stage.server.create("h", { ...input, ...CONSUMER, status: IMAGED });
    const isMoved = kind === "kept";
    expect((await stage.claims.assign(host, { ...WORKER, isMoved }, signal)).kind).toBe(kind);
  });

  test("writes nothing if the host is so already", async () => {
    await using stage = await start();
    const host = stage.server.create("h", { labels: toClaimLabels("a") });
    expect(await stage.claims.assign(host, ACTIVE, signal)).toEqual({ kind: "done", host });
    expect(stage.server.takeRequests()).toEqual([]);
  });

  test("does not touch a host that was paused meanwhile", async () => {
    await using stage = await start();
    const host = stage.server.create("h", { labels: toClaimLabels("a") });
    stage.intrusions.push(() => void stage.server.change("h", PAUSE));
    const result: object = await stage.claims.assign(host, STANDBY, signal);
    expect(result).toEqual({ kind: "kept", why: "paused" });
    expect(stage.server.findLabels("h")).not.toHaveProperty("sip.airshipit.org/standby");
  });
});

describe("several programs", () => {
  const NAMES = Array.from({ length: 20 }, (_, at) => `h${at}`);

  test("that take the same hosts at the same moment never both get one", async () => {
    await using stage = await start();
    const { client } = stage.server;
    const hosts = NAMES.map((name) => stage.server.create(name));
    const takeAll = (cluster: string): Promise<ClaimResult[]> => {
      const claims = new HostClaims(`tenant/${cluster}`, { client });
      return Promise.all(hosts.map((host) => claims.take(host, WORKER, signal)));
    };
    const [byA, byB] = await Promise.all([takeAll("a"), takeAll("b")]);
    for (const [at, name] of NAMES.entries()) {
      const winner = byA[at]?.kind === "done" ? "a" : "b";
      const kinds = [byA[at]?.kind, byB[at]?.kind].toSorted();
      expect([name, kinds]).toEqual([name, ["done", "lost"]]);
      expect(stage.server.findLabels(name)).toEqual(toClaimLabels(winner));
    }
  });

  test("do not make an index forget what its own claims wrote or saw", async () => {
    await using stage = await start();
    const { server } = stage;
    const store = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
    store.replace([server.create("mine"), server.create("theirs"), server.create("free")], "1");
    // The watch brings nothing.
    const index = new HostIndex({ hosts: store, clusters: toRecording([]) });
    const client = server.client.followedBy(() => ({
      learn: (host: KubeObject) => store.learn(host as BareMetalHost, undefined),
      learnGone: () => undefined,
    }));
    const claims = new HostClaims("tenant/a", { client });
    server.change("theirs", { metadata: { labels: toClaimLabels("b") } });
    for (const name of ["mine", "theirs"]) {
      const host = index.find(`metal3/${name}`);
      if (host !== undefined) await claims.take(host, WORKER, signal);
    }
    const list = (hosts: Iterable<HostFacts>): string[] => [...hosts].map(({ key }) => key);
    expect(list(index.listClaimants("tenant/a"))).toEqual(["metal3/mine"]);
    expect(list(index.listClaimants("tenant/b"))).toEqual(["metal3/theirs"]);
    expect(list(index.listFree())).toEqual(["metal3/free"]);
    const mine = index.find("metal3/mine");
    if (mine !== undefined) await claims.giveBack(mine, "inUse", signal);
    expect(list(index.listFree()).toSorted()).toEqual(["metal3/free", "metal3/mine"]);
    expect(server.takeRequests()).toEqual([
      "patch baremetalhosts mine",
      "patch baremetalhosts theirs",
      "get baremetalhosts theirs",
      "get baremetalhosts mine",
      "patch baremetalhosts mine",
    ]);
  });
});
