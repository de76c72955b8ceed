/**
 * What is written to BareMetalHosts, and what is remembered until the watch shows it.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  HostWriter,
  type WriteResult,
  toBareMetalHost,
} from "../../../../lib/controllers/vino/hosts/publish/host_writer.ts";
import { KubeError, type KubeErrorKind } from "../../../../lib/kube/api/errors.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
  PAUSED,
  VINO_UID,
} from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { sample } from "../../../support/extent.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toOwnerPrefix } from "../../../../lib/cloud/capabilities/machines.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";
import {
  type HostBmcs,
  HostPublisher,
  toPublished,
} from "../../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import type { HostPlan } from "../../../../lib/controllers/vino/hosts/plan.ts";
import {
  SecretWriter,
  toSecretBody,
  toSecrets,
  type WantedSecret,
} from "../../../../lib/controllers/vino/hosts/publish/secret_writer.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { AddressReader } from "../../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import type { Secret } from "../../../../lib/kube/kinds/secret.ts";
import { operateHosts } from "../../../../lib/simulator/metal3/bare_metal_operator.ts";
import { ClusterApi } from "../../../../lib/simulator/metal3/cluster_api.ts";
import { stateOf } from "../../../../lib/simulator/metal3/host_state.ts";
import {
  publishEach,
  type PublisherRig,
  type PublishRequest,
  startPublisher,
} from "../../../support/vino/publisher_rig.ts";
import type { HostOutcome, WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import { longTest } from "../../../support/long_tests.ts";

const { signal } = new AbortController();

/** What the API server answers, and what it was asked. */
let answers: (object | KubeErrorKind)[];
let asked: unknown[][];
let clock: ManualClock;
let writer: HostWriter;

function answer(...what: unknown[]): Promise<never> {
  asked.push(what);
  const next = answers.shift() ?? {};
  if (typeof next === "string") return Promise.reject(new KubeError(next, `it is ${next}`));
  return Promise.resolve(next as never);
}

function toHost(
  resourceVersion: string,
  more: Partial<BareMetalHost["metadata"]> = {},
): BareMetalHost {
  const { namespace } = OWNER;
  return { metadata: { namespace, name: "edge-worker-0", uid: "u1", resourceVersion, ...more } };
}

type ErrorCase = readonly [kind: KubeErrorKind, result: string];
const errorCases: readonly ErrorCase[] = [
  ["conflict", "overtaken"],
  ["forbidden", "refused"],
  ["invalid", "refused"],
];

describe("host writer", () => {
  beforeEach(() => {
    answers = [];
    asked = [];
    clock = new ManualClock();
    const client = {
      read: (_kind: unknown, path: unknown) => answer("read", path),
      create: (_kind: unknown, path: unknown) => answer("create", path),
      patch: (_kind: unknown, path: unknown, patch: unknown) => answer("patch", path, patch),
      delete: (_kind: unknown, path: unknown, options: unknown) => answer("delete", path, options),
    };
    writer = new HostWriter(client, clock);
  });

  describe("create()", () => {
    type Case = readonly [live: object | KubeErrorKind, kind: string];
    const cases: readonly Case[] = [
      [toHost("1", { labels: { "landfall.dev/vino-uid": OWNER.uid } }), "overtaken"],
      [toHost("1", { labels: {} }), "taken"],
      ["notFound", "overtaken"],
    ];
    test.each(cases)("of a name that exists reads what has it: %j", async (live, kind) => {
      answers = ["alreadyExists", live];
      expect<string>((await writer.create(OWNER, toWanted(), signal)).kind).toBe(kind);
    });
  });

  describe("patch()", () => {
    test("is for the version that the plan saw, and for nothing else", async () => {
      answers = [toHost("2")];
      const patch = { labels: { a: "b", c: null }, record: new Set<string>() };
      expect((await writer.patch(toHost("1"), toWanted(), patch, signal)).kind).toBe("done");
      expect(asked).toEqual([
        [
          "patch",
          { namespace: "metal", name: "edge-worker-0" },
          {
            type: "merge",
            body: {
              metadata: {
                resourceVersion: "1",
                labels: { a: "b", c: null },
                annotations: { "landfall.dev/labels-from-vino": null },
              },
            },
          },
        ],
      ]);
    });

    test("is not sent for a host without a version", async () => {
      const { resourceVersion: _none, ...metadata } = toHost("1").metadata;
      const result = await writer.patch({ metadata }, toWanted(), { labels: {} }, signal);
      expect([result.kind, asked]).toEqual(["overtaken", []]);
    });
  });

  describe("delete()", () => {
    test("is for the host and the version that the plan saw", async () => {
      await writer.delete(toHost("7"), signal);
      const path = { namespace: "metal", name: "edge-worker-0" };
      expect(asked).toEqual([["delete", path, { uid: "u1", resourceVersion: "7" }]]);
    });

    test("of a host that is gone is done", async () => {
      answers = ["notFound"];
      expect((await writer.delete(toHost("7"), signal)).kind).toBe("done");
    });
  });
  test.each(errorCases)("an answer %s means that the host is %s", async (kind, result) => {
    answers = [kind, kind, kind];
    const results = [
      await writer.create(OWNER, toWanted(), signal),
      await writer.patch(toHost("1"), toWanted(), { labels: { a: "b" } }, signal),
      await writer.delete(toHost("1"), signal),
    ];
    expect<string[]>(results.map((one) => one.kind)).toEqual([result, result, result]);
  });

  test.each<KubeErrorKind>(["unavailable", "throttled", "unauthorized"])(
    "an answer %s is an error: another try may help",
    async (kind) => {
      answers = [kind];
      await expect(writer.delete(toHost("1"), signal)).rejects.toThrow(kind);
    },
  );
});

const WANTED = toWanted(0, {}, { bmhLabels: { tier: "gold" } });

interface BehindOptions {
  /** Whether the view has the host at all. @default {true} */
  readonly shown?: boolean;
  /** What the API server has in addition. @default {nothing} */
  readonly stored?: object | KubeErrorKind;
  readonly bmcs?: Partial<HostBmcs>;
}

/** A publisher with the host as it was made before labels changed, and all that it writes to hosts. */
function startBehind({ shown = true, stored = {}, bmcs }: BehindOptions = {}): {
  readonly publisher: HostPublisher;
  readonly writes: string[];
} {
  const writes: string[] = [];
  const { metadata, ...rest } = toBareMetalHost(OWNER, toWanted());
  const host: BareMetalHost = {
    ...rest,
    metadata: { ...metadata, uid: "u", resourceVersion: "1" },
  };
  const hosts = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  hosts.replace(shown ? [host] : [], "1");
  const note = (verb: string, kind: { readonly kind: string }): Promise<never> => {
    if (kind.kind === BARE_METAL_HOSTS.kind) writes.push(verb);
    const deletionTimestamp =
      verb === "delete" ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
    const labels = { ...metadata.labels, ...WANTED.labels.values };
    const after = {
      ...host,
      metadata: { ...host.metadata, ...deletionTimestamp, labels, resourceVersion: "2" },
    };
    if (kind.kind === BARE_METAL_HOSTS.kind) hosts.learn(after, undefined);
    return Promise.resolve(after as never);
  };
  const client = {
    read: (kind: { readonly kind: string }) => {
      if (kind.kind !== BARE_METAL_HOSTS.kind) return Promise.resolve({ metadata: {} } as never);
      if (typeof stored === "string") return Promise.reject(new KubeError(stored, "refused"));
      return Promise.resolve({ ...host, metadata: { ...host.metadata }, ...stored } as never);
    },
    create: (kind: { readonly kind: string }) => note("create", kind),
    patch: (kind: { readonly kind: string }) => note("patch", kind),
    delete: (kind: { readonly kind: string }) => note("delete", kind),
  };
  const vinoes = { values: () => [] };
  const clock = new ManualClock();
  const add: HostBmcs["add"] = async (one) => one;
  const options = {
    client,
    clock,
    hosts,
    vinoes,
    bmcs: { add, release: async () => undefined, ...bmcs },
  };
  return { publisher: new HostPublisher(options), writes };
}

test.each<[what: string, request: Partial<PublishRequest>, writes: string[]]>([
  ["labels", { hosts: [WANTED] }, ["patch"]],
  ["a deletion", { unwanted: [WANTED.name] }, ["delete"]],
  ["a host that is made again", { hosts: [{ ...WANTED, machineId: "vm-new" }] }, ["delete"]],
])(
  "publish() does not repeat %s that the view does not show yet",
  async (_what, request, expected) => {
    const { publisher, writes } = startBehind();
    const whole = { owner: OWNER, hosts: [], unwanted: [], paused: new Set<string>() };
    for (let round = 0; round < 3; round += 1)
      await publishEach(publisher, { ...whole, publishesMoved: false, ...request }, signal);
    expect(writes).toEqual(expected);
  },
);

test.each<[what: string, stored: object, state: string, writes: string[]]>([
  ["deletes a host", {}, "Removing", ["delete"]],
  ["keeps a host in use", { spec: { consumerRef: { kind: "M", name: "m" } } }, "InUse", []],
  [
    "keeps a paused host",
    {
      metadata: {
        name: WANTED.name,
        labels: { [VINO_UID]: OWNER.uid },
        annotations: { [PAUSED]: "" },
      },
    },
    "Paused",
    [],
  ],
])("publish() %s that the view does not show at all", async (_what, stored, state, expected) => {
  const { publisher, writes } = startBehind({ shown: false, stored });
  const whole = { owner: OWNER, hosts: [], paused: new Set<string>(), publishesMoved: false };
  const { unwanted } = await publishEach(publisher, { ...whole, unwanted: [WANTED.name] }, signal);
  expect<unknown>([unwanted.map((one) => one.state), writes]).toEqual([[state], expected]);
});

describe("remove() of a host that the view does not show", () => {
  const request = { owner: OWNER, name: WANTED.name, wasPaused: false, publishesMoved: false };
  const toStored = (labels: object, annotations: object = {}): object => ({
    metadata: { name: WANTED.name, uid: "u", resourceVersion: "1", labels, annotations },
  });
  const OF_VINO = { "landfall.dev/machine": `${toOwnerPrefix(OWNER)}worker-0` };
  const cases: readonly [what: string, stored: object | KubeErrorKind, isGone: boolean][] = [
    ["does not exist", "notFound", true],
    ["something else made", toStored({}), true],
    ["lost the label of the Vino", toStored({}, OF_VINO), false],
    ["exists", toStored({ [VINO_UID]: OWNER.uid }), false],
  ];
  test.each(cases)("and that %s proves that it is gone or not", async (_what, stored, isGone) => {
    const { publisher } = startBehind({ shown: false, stored });
    await publisher.remove(request, signal);
    expect(publisher.isGone(request)).toBe(isGone);
    expect(publisher.isGone({ ...request, name: "edge-worker-1" })).toBe(false);
    publisher.forget(OWNER.uid);
    expect(publisher.isGone(request)).toBe(false);
  });

  test.each<[object | KubeErrorKind]>([["unavailable"], [{ kind: "Status", metadata: undefined }]])(
    "proves nothing by the answer %j",
    async (stored) => {
      const { publisher } = startBehind({ shown: false, stored });
      await expect(publisher.remove(request, signal)).rejects.toThrow();
      expect(publisher.isGone(request)).toBe(false);
    },
  );

  test("takes its management controller back first", async () => {
    const asked: string[] = [];
    let problem: string | undefined = "the cloud is away";
    const release: HostBmcs["release"] = async (host) => {
      asked.push(host);
      expect(publisher.isGone(request)).toBe(false);
      return problem;
    };
    const { publisher } = startBehind({ shown: false, stored: "notFound", bmcs: { release } });
    const { outcome } = await publisher.remove(request, signal);
    expect(outcome).toMatchObject({ state: "Removing", message: "the cloud is away" });
    expect(publisher.isGone(request)).toBe(false);
    problem = undefined;
    expect((await publisher.remove(request, signal)).outcome.state).toBe("Gone");
    expect(publisher.isGone(request)).toBe(true);
    await publisher.remove(request, signal);
    expect(asked).toEqual([WANTED.name, WANTED.name]);
  });

  test("waits for no management controller without the cloud", async () => {
    const release: HostBmcs["release"] = async () => "the cloud is away";
    const { publisher } = startBehind({ shown: false, stored: "notFound", bmcs: { release } });
    const whole = { ...request, isWithoutCloud: true };
    expect((await publisher.remove(whole, signal)).outcome.state).toBe("Gone");
    expect(publisher.isGone(whole)).toBe(true);
  });
});

const PLAN: HostPlan = {
  name: "h",
  state: "Published",
  notices: ["n"],
  change: { kind: "create" },
  hasSecrets: true,
};

test("toPublished() leaves out what only the writer needs", () => {
  const { outcome } = toPublished(PLAN);
  expect(outcome).toEqual({ name: "h", state: "Published", notices: ["n"] });
});

describe("toPublished()", () => {
  type Case = readonly [result: WriteResult | undefined, state: string, againMs: number];
  const cases: readonly Case[] = [
    [undefined, "Published", 300_000],
    [{ kind: "done", uid: "u" }, "Published", 300_000],
    [{ kind: "overtaken" }, "Published", 1_000],
    [{ kind: "held", pauseMs: 7_000 }, "Published", 7_000],
    [{ kind: "taken", why: "x" }, "NameTaken", 60_000],
    [{ kind: "refused", why: "x" }, "Refused", 60_000],
  ];
  test.each(cases)("after %j", (result, state, againMs) => {
    const published = toPublished(PLAN, result);
    expect<unknown>([published.outcome.state, published.againMs]).toEqual([state, againMs]);
  });

  test("looks again at a name that is taken", () => {
    expect(toPublished({ ...PLAN, state: "NameTaken" }).againMs).toBe(60_000);
  });
});

test.each<[string, Partial<WantedHost>, Partial<HostOutcome>, number]>([
  ["nothing to say", {}, {}, 300_000],
  [
    "credentials that cannot be used",
    { bmcProblem: "no Secret" },
    { notices: ["no Secret"], bmcProblem: "no Secret" },
    60_000,
  ],
  ["credentials that may change", { bmcAgainMs: 25_000 }, {}, 25_000],
  ["a notice", { bmcNotice: "trimmed" }, { bmcNotice: "trimmed" }, 300_000],
])("publish() of a host with %s", async (_title, bmc, said, againMs) => {
  const { publisher } = startBehind({
    shown: false,
    bmcs: { add: async (host) => ({ ...host, ...bmc }) },
  });
  const name = WANTED.name;
  const request = { owner: OWNER, name, wasPaused: true, publishesMoved: false };
  const published = await publisher.publish(request, WANTED, signal);
  expect(published.outcome).toMatchObject({ name, ...said });
  expect(published.againMs).toBe(againMs);
});

const INPUT = { owner: OWNER, host: { name: "edge-worker-0" }, networkData: "{}" };

function toWantedSecret(hostUid: string): WantedSecret {
  const [secret] = toSecrets({ ...INPUT, hostUid });
  if (secret === undefined) throw new Error("there is no Secret");
  return secret;
}

/** @param answers What each request gets, in order: an object, or the kind of a refusal */
function start(answers: (object | KubeErrorKind)[]) {
  const calls: string[] = [];
  const answer = <T>(call: string): Promise<T> => {
    calls.push(call);
    const next = answers.shift() ?? {};
    const isRefused = typeof next === "string";
    return isRefused ? Promise.reject(new KubeError(next, "no")) : Promise.resolve(next as T);
  };
  const client: Pick<KubeClient, "create" | "patch" | "read"> = {
    create: () => answer("create"),
    patch: () => answer("patch"),
    read: () => answer("read"),
  };
  return { calls, writer: new SecretWriter(client, new ManualClock()) };
}

test("SecretWriter waits for a Secret that is deleted right before it is changed, and makes it again", async () => {
  const wanted = toWantedSecret("new");
  const { calls, writer } = start([toSecretBody(toWantedSecret("old")), "notFound", "notFound"]);
  expect(await writer.ensure(OWNER.uid, wanted, false, signal)).toEqual({
    state: "Publishing",
    message: "Secret edge-worker-0-network-data was deleted, and is made again",
  });
  expect(await writer.ensure(OWNER.uid, wanted, false, signal)).toBeUndefined();
  expect(calls).toEqual(["read", "patch", "read", "create"]);
});

test("SecretWriter takes it for a refusal that a namespace does not exist", async () => {
  const { writer } = start(["notFound", "notFound"]);
  const problem = await writer.ensure(OWNER.uid, toWantedSecret("u"), false, signal);
  expect(problem).toMatchObject({ state: "Refused" });
});

const HOST = "edge-worker-0";
const BLANK = { bmc: BMC, power: "stopped", isExternallyProvisioned: false } as const;

let rig: PublisherRig;

/** Lets metal3 work until it has nothing to do. */
function operate(): void {
  while (operateHosts(rig.kubernetes.objects).moved.length > 0);
}
function stateOfHost(): string {
  const host = rig.host(HOST);
  return host === undefined ? "gone" : stateOf(host);
}

describe("metal3", () => {
  beforeEach(async () => {
    rig = await startPublisher();
  });
  afterEach(async () => await rig[Symbol.asyncDispose]());

  describe("metal3", () => {
    type Level = readonly [what: string, host: Parameters<typeof toWanted>[1], state: string];
    const levels: readonly Level[] = [
      ["without a management controller", {}, "unmanaged"],
      ["from a template, with one", { bmc: BMC }, "externally provisioned"],
      ["with blank disks, with one", BLANK, "available"],
    ];
    test.each(levels)(
      "takes a machine %s, and then there is nothing to write",
      async (_what, host, state) => {
        const hosts = [toWanted(0, host)];
        await rig.publishAll({ hosts });
        operate();
        expect(stateOfHost()).toBe(state);
        rig.kubernetes.requests.clear();
        const report = await rig.publish({ hosts });
        expect([report.states, report.requests]).toEqual([[`${HOST} Published`], []]);
      },
    );

    test("cleans a host that is taken back, before its machine may go", async () => {
      await rig.publishAll({ hosts: [toWanted(0, BLANK)] });
      operate();
      expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
      expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
      operate();
      expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Gone`]);
    });
  });

  describe("Cluster API", () => {
    test("takes a host by its labels, keeps it while the Vino shrinks, and gives it back", async () => {
      const { objects } = rig.kubernetes;
      const capi = new ClusterApi(objects, () => 0);
      const bmhLabels = { "airshipit.org/k8s-role": "worker" };
      const hosts = [toWanted(0, BLANK, { bmhLabels })];
      await rig.publishAll({ hosts });
      operate();
      const machine = { namespace: OWNER.namespace, name: "m-1" };
      capi.add({ ...machine, hostSelector: bmhLabels });
      capi.step();
      operate();
      expect(stateOfHost()).toBe("provisioned");
      const moved = { poolId: "p1", hostId: "h2" };
      await rig.publishAll({ hosts: [toWanted(0, BLANK, { bmhLabels, machine: moved })] });
      expect(rig.host(HOST)).toMatchObject({
        metadata: { labels: { "vino.airshipit.org/host": "h2" } },
        spec: { online: true, consumerRef: { name: "m-1" }, image: { format: "qcow2" } },
      });
      const kept = await rig.publish({ unwanted: [HOST] });
      expect([kept.states, kept.requests]).toEqual([[`${HOST} InUse`], []]);
      capi.remove(machine);
      for (let step = 0; step < 4; step += 1) {
        capi.step();
        expect((await rig.publish({ unwanted: [HOST] })).states[0]).toMatch(
          / (InUse|Removing|Gone)$/,
        );
        operate();
      }
      expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Gone`]);
    });
  });

  test("a SIPCluster finds the addresses of a host", async () => {
    await rig.publishAll({ hosts: [toWanted()] });
    const read = (_kind: unknown, { name = "" }: { name?: string }): Promise<never> =>
      Promise.resolve(rig.secret(name) as unknown as Secret as never);
    const reader = new AddressReader({ client: { read }, clock: systemClock, periodMs: 600_000 });
    const host = rig.host(HOST) as unknown as BareMetalHost;
    const found = await reader.readAll([host], new AbortController().signal);
    expect([...found.values()]).toEqual([
      { addresses: new Map([["oam", "192.0.2.10"]]), problems: new Map() },
    ]);
  });
});

const SECRETS = [`${HOST}-network-data`, `${HOST}-bmc-credentials`];
const FIRST = toWanted(0, { bmc: BMC });
const MOVED = { poolId: "p1", hostId: "h2", firstHostId: "h1" };

/** What a story asks for, one after another. */
const STORIES: Readonly<Record<string, readonly Partial<PublishRequest>[]>> = {
  "a new host with a management controller": [{ hosts: [FIRST] }],
  "a host whose machine moves, and gets a management controller": [
    { hosts: [toWanted()] },
    { hosts: [toWanted(0, { bmc: BMC }, { machine: MOVED, bmhLabels: { tier: "gold" } })] },
  ],
  "a host whose machine is another one": [
    { hosts: [FIRST] },
    { hosts: [toWanted(0, { bmc: BMC, machineId: "vm-new" })] },
  ],
  "a host that is taken back": [{ hosts: [FIRST] }, { unwanted: [HOST] }],
};

/** What must be the same, whatever happened on the way. */
function picture(rig: PublisherRig): unknown {
  const host = rig.host(HOST);
  return {
    host: host && {
      spec: host["spec"],
      labels: host.metadata["labels"],
      annotations: host.metadata["annotations"],
    },
    secrets: SECRETS.map((name) => {
      const secret = rig.secret(name);
      const owners = [secret?.metadata["ownerReferences"] ?? []]
        .flat()
        .map((one) => Object(one).uid);
      return (
        secret && { data: secret["data"], isOwned: owners.join() === (host?.metadata.uid ?? "") }
      );
    }),
    count: rig.kubernetes.objects.list("baremetalhosts").length,
  };
}

/** Plays a story; where an answer is lost, another process goes on without memory. */
async function play(rig: PublisherRig, story: readonly Partial<PublishRequest>[]): Promise<number> {
  let crashes = 0;
  for (const request of story) {
    try {
      await rig.publishAll(request);
    } catch {
      crashes += 1;
      await rig.restart();
      await rig.publishAll(request);
    }
  }
  return crashes;
}

longTest.each(Object.entries(STORIES))("%s: every crash ends the same", async (_title, story) => {
  await using whole = await startPublisher();
  await play(whole, story);
  const expected = picture(whole);
  const requests = whole.sent.length;
  expect(requests).toBeGreaterThan(5);
  let cuts = 0;
  const losses = Array.from({ length: requests }, (_, at) =>
    [false, true].map((isDone) => ({ at, isDone })),
  );
  const tried = sample(losses.flat());
  for (const lost of tried) {
    await using rig = await startPublisher({ lost });
    cuts += await play(rig, story);
    expect([lost, picture(rig)]).toEqual([lost, expected]);
  }
  // Each of them is a crash, unless the client repeats a read by itself.
  expect(cuts).toBeGreaterThan(tried.length / 2);
});
