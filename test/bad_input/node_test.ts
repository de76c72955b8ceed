/**
 * Nodes as a kubelet that is broken or bad may make them: every plan, view and page is made of them all the same.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CheckReport, toReport, toSkipped } from "../../lib/cli/check/report.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { listNodePlans } from "../../lib/cli/check/nodes.ts";
import { formatReport } from "../../lib/cli/check/text.ts";
import type { Instance } from "../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../lib/cloud/provider.ts";
import { toIdentity } from "../../lib/controllers/identity.ts";
import { MachineClaims, planNode } from "../../lib/controllers/node/plan.ts";
import { describeNode } from "../../lib/controllers/node_view.ts";
import { planNodeLabels } from "../../lib/controllers/node_labels/plan.ts";
import { toFleetMember } from "../../lib/controllers/fleet/fleet_member.ts";
import { planLifecycle } from "../../lib/controllers/node_lifecycle/plan.ts";
import { createLogger, silentLogger } from "../../lib/core/log.ts";
import { createPages } from "../../lib/http/pages.ts";
import type { NodeView } from "../../lib/http/views.ts";
import { type Node, NODES } from "../../lib/kube/kinds/node.ts";
import { findDamage } from "../../lib/kube/kinds/resource.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import { staticProvider } from "../../lib/providers/static/mod.ts";
import { parseIdentity } from "../../lib/providers/xenorchestra/identity.ts";
import { toPlaces } from "../../lib/providers/xenorchestra/labels.ts";
import { tries } from "../support/extent.ts";
import { anyText, HOSTILE_TEXTS, isPolluted, measureCpuMs } from "../support/net/hostile.ts";
import { FakeProvider, toInstance, toInventory } from "../support/cloud/instances.ts";
import { PAGE_NOW, toInventoryView } from "../support/page/node_views.ts";
import { until, startRig } from "../support/nodes/rig.ts";
import { toNode, toRegistration } from "../support/nodes/nodes.ts";
import { longTest } from "../support/long_tests.ts";

const LABELS =
  "topology.kubernetes.io/region topology.kubernetes.io/zone failure-domain.beta.kubernetes.io/zone " +
  "node.kubernetes.io/instance-type topology.k8s.xenorchestra/pool_id topology.k8s.xenorchestra/host_id " +
  "constructor toString valueOf hasOwnProperty __proto__";
const TAINTS =
  "node.cloudprovider.kubernetes.io/uninitialized node.cloudprovider.kubernetes.io/shutdown constructor";

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
  );
const texts = fc.dictionary(fc.oneof(fc.constantFrom(...LABELS.split(" ")), anyText), anyText, {
  maxKeys: 6,
});
const oneOf = (words: string): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...words.split(" ")), anyText);

const anyProviderId = fc.oneof(
  anyText,
  anyText.map((text) => `xenorchestra://${text}`),
  anyText.map((text) => `static://${text}`),
  fc.constantFrom("static://a", "static://static://a", "test://a", "xenorchestra:///", "aws:///x"),
);

/** Whatever passes for a Node on the wire; what is not there may be `null`. */
const anyNode: fc.Arbitrary<Node> = fc
  .record({
    metadata: fc.record({
      name: anyText.filter((text) => text !== "").map((text) => text.slice(0, 253)),
      uid: maybe(anyText),
      resourceVersion: maybe(anyText),
      creationTimestamp: maybe(oneOf("2026-01-01T00:00:00Z 9999-99-99 -1")),
      deletionTimestamp: maybe(anyText),
      labels: maybe(texts),
      annotations: maybe(
        fc.oneof(
          texts,
          anyText.map((text) => ({ "alpha.kubernetes.io/provided-node-ip": text })),
        ),
      ),
    }),
    spec: maybe(
      fc.record({
        providerID: maybe(anyProviderId),
        taints: maybe(
          fc.array(
            fc.record({ key: oneOf(TAINTS), effect: oneOf("NoSchedule"), value: maybe(anyText) }),
            { maxLength: 3 },
          ),
        ),
      }),
    ),
    status: maybe(
      fc.record({
        addresses: maybe(
          fc.array(fc.record({ type: oneOf("InternalIP Hostname"), address: anyText }), {
            maxLength: 3,
          }),
        ),
        conditions: maybe(
          fc.array(fc.record({ type: oneOf("Ready"), status: oneOf("True False Unknown") }), {
            maxLength: 3,
          }),
        ),
        nodeInfo: maybe(fc.record({ systemUUID: maybe(anyText) })),
      }),
    ),
  })
  .map((node) => JSON.parse(JSON.stringify(node)) as Node);

const INSTANCE = toInstance("a", {
  region: "r",
  zone: "z",
  instanceType: "t",
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  labels: { constructor: "x", "a.cloud/host": "h" },
});

const PRESENCES: readonly Presence[] = [
  { kind: "present", instance: INSTANCE, matchedBy: "name" },
  { kind: "present", instance: { ...INSTANCE, state: "stopped" }, matchedBy: "name" },
  { kind: "absent", evidence: "e" },
  { kind: "unknown", reason: "notListed", message: "m" },
  { kind: "unknown", reason: "noInventory", message: "m" },
  { kind: "foreign", providerId: "x" },
];

/** As the store keeps it: what has another shape is refused before. */
function keep(node: Node): Node {
  expect(findDamage(NODES, node)).toBeUndefined();
  const store = new Store<Node>({ resource: NODES, log: silentLogger });
  store.apply(node);
  const [kept] = [...store.values()];
  if (kept === undefined) throw new Error("the store did not keep the Node");
  return kept;
}

const { settings: FILE } = staticProvider.parseConfig({ instances: [{ id: "a", name: "a" }] }, {});
function createStatic(): Provider {
  if (FILE === undefined) throw new Error("the inventory is good");
  return staticProvider.create(FILE, { log: silentLogger } as Parameters<
    typeof staticProvider.create
  >[1]);
}

describe("plans of Nodes", () => {
  test("are made of whatever a kubelet says, and never hold more than was wanted", () => {
    const cloud = createStatic();
    fc.assert(
      fc.property(anyNode, fc.constantFrom(...PRESENCES), (raw, presence) => {
        const node = keep(raw);
        const { patch, warnings } = planNode(node, presence, "trusted");
        planNode(node, presence, "verified");
        for (const key of Object.keys(patch?.metadata.labels ?? {}))
          expect(key).not.toBe("__proto__");
        for (const { message } of warnings) expect(message.length).toBeLessThan(2_000);
        const plan = planNodeLabels(node, presence, {
          reported: {},
          origins: { "a.cloud/host": "a.cloud/first" },
        });
        for (const value of Object.values(plan.set)) expect(typeof value).toBe("string");
        planLifecycle(node, presence, { kind: "confirm" });
        toFleetMember(node, presence, DEFAULT_DELETION);
        const found = [
          cloud.findInstance(toInventory([INSTANCE]), toIdentity(node)),
          toXenPresence(node),
        ];
        for (const one of found) {
          if (one?.kind === "unknown") expect(one.message.length).toBeLessThan(2_000);
        }
      }),
      tries(300),
    );
    expect(isPolluted()).toBe(false);
  });

  test("planNode() writes a label whose key every object has already", () => {
    const presence = PRESENCES[0] as Presence;
    const { patch } = planNode(toNode("a"), presence, "verified");
    expect(Object.entries(patch?.metadata.labels ?? {})).toContainEqual(["constructor", "x"]);
  });

  const long = "x".repeat(2_000_000);
  const LONG: readonly [string, Node][] = [
    ["a provider ID", toNode("a", { providerId: `xenorchestra://${long}` })],
    ["a system UUID", toNode("a", { systemUuid: long })],
    ["a node IP", toNode("a", { nodeIp: `${"10.0.0.1,".repeat(50_000)}x` })],
    [
      "addresses",
      toNode("a", { addresses: Array.from({ length: 20_000 }, () => ["InternalIP", "::1"]) }),
    ],
    [
      "labels",
      toNode("a", {
        labels: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`l${at}`, "v"])),
      }),
    ],
    [
      "taints",
      toNode("a", {
        taints: Array.from({ length: 20_000 }, (_, at) => ({
          key: `t${at}`,
          effect: "NoSchedule",
        })),
      }),
    ],
  ];
  longTest.each(LONG)(
    "of a Node with an endless row of %s take no time and are told in few words",
    async (_what, raw) => {
      let said = "";
      const log = createLogger({ format: "json", write: (line) => (said += line), now: () => 0 });
      const ms = await measureCpuMs(() => {
        const node = keep(raw);
        for (const presence of [...PRESENCES, toXenPresence(node)]) {
          if (presence === undefined) continue;
          const { warnings, blocked } = planNode(node, presence, "verified");
          log.info("Planned", { warnings, blocked });
          planNodeLabels(node, presence, { reported: {}, origins: {} });
          planLifecycle(node, presence, { kind: "keep" });
          MachineClaims.of([node], {}, () => undefined).findRival(node, INSTANCE);
        }
      });
      expect(ms).toBeLessThan(2_000);
      expect(said.length).toBeLessThan(8_000);
    },
  );
});

function toXenPresence(node: Node): Presence | undefined {
  const identity = parseIdentity(toIdentity(node));
  return identity.kind === "other" ? identity.presence : undefined;
}

/** A Node as its pages get it. */
function toView(node: Node, presence: Presence): NodeView {
  const provider = { providedNodeIps: "trusted", toPlaces } as const;
  return {
    ...describeNode(node, presence, provider),
    ready: node.status?.conditions?.[0]?.status ?? "Unknown",
    lastReconcile: { at: "never", outcome: "error", error: node.spec?.providerID ?? "" },
  };
}

function createPagesOf(views: readonly NodeView[]): ReturnType<typeof createPages> {
  return createPages({
    version: "1.2.3",
    now: () => PAGE_NOW,
    debug: {
      listNodes: () => views,
      findNode: (name) => views.find((view) => view.name === name),
      readInventory: () => toInventoryView(),
    },
  });
}

/** Tags and attributes that run or load something. */
const LIVE = /<(img|iframe|object|embed|svg [^>]*onload)|<script>alert|<[a-z][^>]*\son\w+\s*=/i;

describe("pages of Nodes", () => {
  test("show whatever a kubelet says as text, to people and to programs", async () => {
    const fleet = fc.array(fc.tuple(anyNode, fc.constantFrom(...PRESENCES)), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(fleet, async (nodes) => {
        const views = nodes.map(([raw, presence]) => toView(keep(raw), presence));
        const pages = createPagesOf(views);
        const own = encodeURIComponent(views[0]?.name.toWellFormed() ?? "");
        for (const path of [
          "/debug/",
          "/debug/?q=a",
          ...(/^(\.|%2e){1,2}$/i.test(own) ? [] : [`/debug/nodes/${own}`]),
        ]) {
          const reply = await pages.request(path, { headers: { accept: "text/html" } });
          const html = await reply.text();
          expect([200, 404]).toContain(reply.status);
          expect(html).not.toMatch(LIVE);
        }
        const table = await (await pages.request("/debug/nodes?format=text")).text();
        expect(table.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(table.trimEnd().split("\n")).toHaveLength(views.length + 1);
        const json = await (await pages.request("/debug/nodes")).text();
        expect(json.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        const { nodes: shown } = JSON.parse(json) as { nodes: NodeView[] };
        expect(shown.map(({ name }) => name)).toEqual(views.map(({ name }) => name));
      }),
      tries(30),
    );
  });

  test("show a place of half a character, and no label that only every object has", async () => {
    const labels = {
      "topology.k8s.xenorchestra/pool_id": "\ud800",
      constructor: "x",
      toString: "x",
    };
    const node = keep(toNode("a", { labels }));
    const plain: Presence = {
      ...(PRESENCES[0] as Presence & { kind: "present" }),
      instance: toInstance("a"),
    };
    expect(toView(node, plain).labels.actual).toEqual({});
    const view = toView(node, PRESENCES[3] as Presence);
    const reply = await createPagesOf([view]).request("/debug/", {
      headers: { accept: "text/html" },
    });
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('id="box-%EF%BF%BD"');
  });

  test("landfall check reports them in plain text, a line for each problem", async () => {
    const nodes = fc.array(anyNode, { minLength: 1, maxLength: 4 });
    const acting = { hasLifecycle: true, deletion: DEFAULT_DELETION };
    const sources = {
      selector: [],
      provider: createStatic(),
      inventory: toInventory([INSTANCE]),
      acting,
    };
    await fc.assert(
      fc.asyncProperty(nodes, async (raw) => {
        const plans = await listNodePlans(raw, sources, AbortSignal.timeout(5_000));
        const skipped = { ...toSkipped("x"), permissions: [], provider: "static" };
        const steps = {
          settings: skipped,
          cloud: skipped,
          kubernetes: skipped,
          permissions: skipped,
        };
        const report: CheckReport = toReport("0", {
          ...steps,
          nodes: { status: "ok", findings: [], nodes: plans },
        });
        const text = formatReport(report);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(plans).toHaveLength(raw.length);
      }),
      tries(60),
    );
  });
});

test("a log line stays one line of plain text, whatever it reports", () => {
  fc.assert(
    fc.property(anyText, anyText, fc.constantFrom("json", "text"), (text, key, format) => {
      let line = "";
      const log = createLogger({ format, write: (one) => (line += one), now: () => 0 });
      log.info("Node labels written", {
        node: text,
        labels: { [key]: text },
        error: new Error(text),
      });
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
      expect(line.endsWith("\n")).toBe(true);
      if (format === "json") expect(JSON.parse(line)).toHaveProperty("node");
    }),
    tries(200),
  );
});

test("Nodes that hold what the API server lets pass keep nobody else from being initialised", async () => {
  const cloud = new FakeProvider();
  cloud.clock = () => performance.now();
  const good: Instance = toInstance("good", { region: "r", zone: "z", instanceType: "t" });
  cloud.instances.set("good", good);
  await using rig = await startRig({
    provider: cloud,
    controllers: ["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"],
    monitorPeriodMs: 100,
  });
  for (const [at, text] of HOSTILE_TEXTS.entries()) {
    const odd = toRegistration(`odd-${at}`, {
      providerId: at % 2 === 0 ? `test://${text}` : text,
      systemUuid: text,
      nodeIp: text,
      addresses: [["Hostname", text]],
      labels: { constructor: "x", toString: "x", hasOwnProperty: "" },
      ready: text,
      uninitialized: at % 3 !== 0,
    });
    rig.kubernetes.objects.createNode(odd);
  }
  rig.kubernetes.objects.createNode(
    toRegistration(`${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`),
  );
  rig.kubernetes.objects.createNode(toRegistration("good"));
  await until(
    "the good Node is done",
    () => rig.readNode("good")?.spec?.providerID === "test://good",
  );
  expect(rig.readNode("odd-0")).toBeDefined();
});
