import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  describeParts,
  listActual,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/parts.ts";
import { plan } from "../../../../../lib/providers/cloudstack/load_balancers/plan/plan.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import type { CloudModel } from "../cloud/cloud_model.ts";
import {
  annotate,
  converge,
  createCloud,
  HTTP,
  HTTPS,
  type KINDS,
  toBackend,
  toRecord,
  toSpec,
} from "../cloud/services.ts";

/** The parts that the plan of a Service has. */
function list(cloud: CloudModel, spec: LoadBalancerSpec): readonly string[] {
  const { parts } = plan(cloud.view(), spec);
  return parts.map((one) => `${one.kind} ${one.name}: ${one.wanted ?? "-"} / ${one.actual ?? "-"}`);
}

/** The parts of a Service after a change that was not applied yet, one a line. */
function show(kind: keyof typeof KINDS, change: Partial<LoadBalancerSpec>): readonly string[] {
  const cloud = createCloud(kind);
  const { ingress } = converge(cloud, toSpec({ sourceRanges: ["10.0.0.0/8"] }));
  return list(cloud, toSpec({ ingress, ...change }));
}

for (const kind of ["firewall", "tier", "open"] as const) {
  test(`the debug page shows what is wanted beside what is there, in a network of kind ${kind}`, () => {
    expect(show(kind, { ports: [HTTPS], backends: [toBackend(1)] })).toEqual([
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      "rule tcp 443: tcp to node port 30443, roundrobin / -",
      "clients tcp 443: 0.0.0.0/0 / -",
      "backends tcp 443: 1 / -",
      "rule tcp 80 on 192.0.2.10: - / tcp to node port 30080, roundrobin",
    ]);
    expect(show(kind, { backends: [toBackend(1)] }).slice(1)).toEqual([
      "rule tcp 80: tcp to node port 30080, roundrobin / tcp to node port 30080, roundrobin",
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 1 / 2",
    ]);
  });
}

const RULE = "tcp to node port 30080, roundrobin";

test.each<[string, Partial<LoadBalancerSpec>, readonly string[]]>([
  [
    "asks for something that CloudStack cannot do",
    { ports: [HTTP, { ...HTTP, name: "quic", protocol: "UDP" }] },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
      "rule udp 80: udp to node port 30080, roundrobin / -",
      "clients udp 80: 0.0.0.0/0 / -",
      "backends udp 80: 2 / -",
    ],
  ],
  [
    "names an address that cannot be used",
    { address: "one" },
    [
      "address one: one / -",
      `rule tcp 80: ${RULE} / -`,
      "clients tcp 80: 0.0.0.0/0 / -",
      "backends tcp 80: 2 / -",
      "address 192.0.2.10: - / 192.0.2.10",
      `rule tcp 80 on 192.0.2.10: - / ${RULE}`,
    ],
  ],
  [
    "has source ranges that nobody understands",
    { annotations: annotate({ "source-cidrs": "all" }) },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: ? / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
    ],
  ],
  [
    "waits for a job",
    {
      record: toRecord({
        job: { id: "01234567-89ab-4cde-8f01-000000000001", command: "createLoadBalancerRule" },
      }),
    },
    [
      "address 192.0.2.10: 192.0.2.10 / 192.0.2.10",
      `rule tcp 80: ${RULE} / ${RULE}`,
      "clients tcp 80: 0.0.0.0/0 / 10.0.0.0/8",
      "backends tcp 80: 2 / 2",
    ],
  ],
])(
  "the debug page shows what is wanted and what is there while a Service %s",
  (_, change, lines) => {
    expect(show("firewall", change)).toEqual([...lines]);
  },
);

test("the debug page shows what is wanted before there is anything, also where no gate lets clients in", () => {
  const cloud = createCloud("tierAllow");
  const waiting = toSpec({ ports: [{ ...HTTP, protocol: "SCTP" }, HTTPS], backends: [] });
  expect(list(cloud, waiting)).toEqual([
    "address new: a free one / -",
    "rule tcp 443: tcp to node port 30443, roundrobin / -",
    "clients tcp 443: 0.0.0.0/0 / -",
    "backends tcp 443: 0 / -",
  ]);
});

test("the debug page shows stickiness, wanted beside actual", () => {
  const cloud = createCloud();
  const sticky = annotate({
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "tablesize=200k,expire=30m",
  });
  const { ingress } = converge(cloud, toSpec({ annotations: sticky }));
  const find = (annotations: Record<string, string>): string | undefined =>
    list(cloud, toSpec({ ingress, annotations })).find((one) => one.startsWith("stickiness"));
  const policy = "SourceBased expire=30m tablesize=200k";
  expect(find(sticky)).toBe(`stickiness tcp 80: ${policy} / ${policy}`);
  expect(find({})).toBe(`stickiness tcp 80: - / ${policy}`);
  const other = annotate({ "stickiness-method-name": "SourceBased" });
  expect(find(other)).toBe(`stickiness tcp 80: SourceBased / ${policy}`);
  const wrong = annotate({ "stickiness-method-name": "AppCookie" });
  expect(find(wrong)).toBe(`stickiness tcp 80: ? / ${policy}`);
});

test("the overview counts the Nodes that can get traffic, and those that do, and has the address", () => {
  const cloud = createCloud();
  const backends = [1, 2, 3, 4].map((number) => toBackend(number));
  const before = plan(cloud.view(), toSpec({ backends })).overview?.();
  expect(before).toEqual({ backends: ["node-1", "node-2", "node-3"], serving: 0 });
  const annotations = annotate({ hostname: "web.example.com" });
  const { ingress } = converge(cloud, toSpec({ backends: backends.slice(0, 2), annotations }));
  const spec = toSpec({ ingress, backends, annotations });
  expect(plan(cloud.view(), spec).overview?.()).toEqual({
    address: "192.0.2.10",
    backends: ["node-1", "node-2", "node-3"],
    serving: 2,
  });
  expect(plan(cloud.view(), { ...spec, ports: [HTTP, HTTPS] }).overview?.().serving).toBe(0);
  // The VM of another Node is still behind the rule.
  const others = { ...spec, backends: [toBackend(1), toBackend(3)] };
  expect(plan(cloud.view(), others).overview?.().serving).toBe(1);
  const unknown = { ...cloud.view(), members: new Map() };
  expect(plan(unknown, spec).overview?.()).not.toHaveProperty("serving");
});

test("describeParts() and listActual() name the address that goes, too", () => {
  const cloud = createCloud();
  const { ingress } = converge(cloud, toSpec());
  const spec = toSpec({ ingress, ports: [HTTP] });
  const [address] = cloud.addresses.values();
  if (address === undefined) throw new Error("no address");
  cloud.addAddress({ ip: "192.0.2.11", networkId: "net-1", tags: address.tags });
  const scene = toScene(cloud.view(), spec);
  const { parts } = describeParts({ scene, spec, asked: toWanted(spec).asked, address });
  expect(parts.at(-1)).toEqual({ kind: "address", name: "192.0.2.11", actual: "192.0.2.11" });
  expect(listActual(scene, [address])).toHaveLength(2);
});
