import { expect, test } from "bun:test";
import type { LoadBalancerSpec } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import { chooseAddress } from "../../../../../lib/providers/cloudstack/load_balancers/plan/addresses.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER, type CloudModel } from "../cloud/cloud_model.ts";
import {
  createCloud,
  KINDS,
  LB_NAME,
  OWNER,
  placeOf,
  toBackend,
  toNetwork,
  toRecord,
  toSpec,
} from "../cloud/services.ts";

const OURS = toTags(CLUSTER, OWNER);
const THEIRS = toTags(CLUSTER, { ...OWNER, uid: "other" });

/** What is chosen: an IP with its network, what is taken, or a problem. */
function choose(cloud: CloudModel, fields: Partial<LoadBalancerSpec> = {}): string {
  const spec = toSpec(fields);
  const { address, network, take, problems } = chooseAddress(toScene(cloud.view(), spec), spec);
  if (address !== undefined) return `${address.ip} in ${network?.id ?? "?"}`;
  if (take?.change.kind === "takeAddress") {
    const { ip = "any", place } = take.change;
    return `take ${ip} in ${"vpcId" in place ? place.vpcId : place.networkId}`;
  }
  return problems.map(({ reason, message }) => `${reason}: ${message}`).join("; ");
}

function addOwnRules(cloud: CloudModel, addressId: string, count: number): void {
  for (let port = 1; port <= count; port += 1) {
    cloud.addRule({
      name: `${LB_NAME}-tcp-${port}`,
      addressId,
      networkId: "net-1",
      publicPort: port,
    });
  }
}

test("a Service without an address gets one in the network of its Nodes, or in their VPC", () => {
  expect(choose(createCloud())).toBe("take any in net-1");
  expect(choose(createCloud("tier"))).toBe("take any in vpc-1");
  expect(choose(createCloud(), { backends: [toBackend(4, 2)] })).toBe("take any in net-2");
});

test("nothing is taken while the network cannot be told, or cannot balance", () => {
  expect(choose(createCloud(), { backends: [] })).toMatch(/^NetworkNotUsable: no Node says/);
  const unknown = [{ nodeName: "node-9", internalIps: [] }];
  expect(choose(createCloud(), { backends: unknown })).toMatch(
    /^NetworkNotUsable: .*network interface/,
  );
  const cloud = createCloud();
  cloud.networks.set("net-1", toNetwork({ id: "net-1", hasLoadBalancers: false }));
  expect(choose(cloud)).toMatch(/^NetworkNotUsable: .*offers no load balancing/);
  expect(choose(cloud, { address: "192.0.2.10" })).toMatch(/^NetworkNotUsable/);
  cloud.networks.delete("net-1");
  expect(choose(cloud)).toMatch(/^NotKnown/);
});

interface Existing {
  readonly ip: string;
  readonly tags?: ReadonlyMap<string, string>;
  readonly rules?: number;
  readonly isStaticNat?: boolean;
  readonly networkId?: string;
}

const CURRENT: readonly [string, readonly Existing[], string[], string][] = [
  ["its own", [{ ip: "192.0.2.1", tags: OURS }], [], "192.0.2.1 in net-1"],
  ["not that of another Service", [{ ip: "192.0.2.1", tags: THEIRS }], [], "take any in net-1"],
  [
    "not that of another Service that its status shows",
    [{ ip: "192.0.2.1", tags: THEIRS }],
    ["192.0.2.1"],
    "take any in net-1",
  ],
  ["not one without tags", [{ ip: "192.0.2.1" }], [], "take any in net-1"],
  ["one with its rules", [{ ip: "192.0.2.1", rules: 1 }], [], "192.0.2.1 in net-1"],
  [
    "its own that the status shows",
    [
      { ip: "192.0.2.1", tags: OURS, rules: 2 },
      { ip: "192.0.2.2", tags: OURS, rules: 1 },
    ],
    ["192.0.2.2"],
    "192.0.2.2 in net-1",
  ],
  [
    "the shown one, before one with more rules",
    [
      { ip: "192.0.2.1", tags: OURS, rules: 2 },
      { ip: "192.0.2.2", rules: 1 },
    ],
    ["192.0.2.2"],
    "192.0.2.2 in net-1",
  ],
  [
    "its own before another shown one",
    [
      { ip: "192.0.2.1", rules: 2 },
      { ip: "192.0.2.2", tags: OURS },
    ],
    ["192.0.2.1", "192.0.2.2"],
    "192.0.2.2 in net-1",
  ],
  [
    "the one with most rules",
    [
      { ip: "192.0.2.1", tags: OURS, rules: 1 },
      { ip: "192.0.2.2", rules: 2 },
    ],
    [],
    "192.0.2.2 in net-1",
  ],
  [
    "its own of two with as many rules",
    [
      { ip: "192.0.2.1", rules: 1 },
      { ip: "192.0.2.2", tags: OURS, rules: 1 },
    ],
    [],
    "192.0.2.2 in net-1",
  ],
  [
    "the lower one of two that are alike",
    [
      { ip: "192.0.2.2", tags: OURS },
      { ip: "192.0.2.1", tags: OURS },
    ],
    [],
    "192.0.2.1 in net-1",
  ],
  [
    "one that the status shows, whose rule is just being made again",
    [{ ip: "192.0.2.1" }],
    ["192.0.2.1"],
    "192.0.2.1 in net-1",
  ],
  [
    "not one of another network",
    [{ ip: "192.0.2.1", tags: OURS, networkId: "net-2" }],
    [],
    "take any in net-1",
  ],
  [
    "not one that got static NAT",
    [{ ip: "192.0.2.1", tags: OURS, isStaticNat: true }],
    [],
    "take any in net-1",
  ],
];
for (const [what, existing, shown, chosen] of CURRENT) {
  test(`a Service that names no address has ${what}`, () => {
    const cloud = createCloud();
    for (const { rules = 0, ...fields } of existing) {
      const { id } = cloud.addAddress({ networkId: "net-1", ...fields });
      addOwnRules(cloud, id, rules);
    }
    expect(choose(cloud, { ingress: shown.map((ip) => ({ ip })) })).toBe(chosen);
  });
}

const NAMED = "192.0.2.10";
const PINNED: readonly [string, (cloud: CloudModel) => void, RegExp | string][] = [
  ["is free", () => {}, "take 192.0.2.10 in net-1"],
  [
    "is in the network",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-1" }),
    `${NAMED} in net-1`,
  ],
  [
    "is of another Service, which shares it",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-1", tags: THEIRS }),
    `${NAMED} in net-1`,
  ],
  [
    "is in another network",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-2" }),
    /^AddressNotUsable: .*not in the network/,
  ],
  [
    "is in a VPC",
    (cloud) => void cloud.addAddress({ ip: NAMED, vpcId: "vpc-9" }),
    /^AddressNotUsable: .*not in the network/,
  ],
  [
    "has static NAT",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-1", isStaticNat: true }),
    /^AddressNotUsable: .*static NAT/,
  ],
  [
    "is the source NAT",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-1", isSourceNat: true }),
    /^AddressNotUsable: .*source NAT/,
  ],
  [
    "is being taken",
    (cloud) => void cloud.addAddress({ ip: NAMED, networkId: "net-1", state: "Allocating" }),
    /^AddressNotUsable: .*Allocating/,
  ],
  [
    "is the source NAT and has rules of version 1.x",
    (cloud) =>
      addOwnRules(
        cloud,
        cloud.addAddress({ ip: NAMED, networkId: "net-1", isSourceNat: true }).id,
        1,
      ),
    `${NAMED} in net-1`,
  ],
  [
    "is there twice",
    (cloud) => {
      cloud.addAddress({ ip: NAMED, networkId: "net-2" });
      cloud.addAddress({ ip: NAMED, networkId: "net-1" });
    },
    `${NAMED} in net-1`,
  ],
  [
    "is another one than before",
    (cloud) =>
      addOwnRules(
        cloud,
        cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1", tags: OURS }).id,
        1,
      ),
    "take 192.0.2.10 in net-1",
  ],
];
for (const [what, prepare, chosen] of PINNED) {
  test(`the address that a Service names ${what}`, () => {
    const cloud = createCloud();
    prepare(cloud);
    const found = choose(cloud, { address: NAMED });
    if (typeof chosen === "string") expect(found).toBe(chosen);
    else expect(found).toMatch(chosen);
  });
}

for (const address of ["::1", "x", "192.0.2", "192.0.2.010", "192.0.2.1,192.0.2.2", "\u202e"]) {
  test(`a Service cannot name the address ${JSON.stringify(address)}`, () => {
    expect(choose(createCloud(), { address })).toMatch(/^AddressNotUsable: spec.loadBalancerIP/);
  });
}

test("a named address of a VPC is usable if no other tier has it", () => {
  for (const [networkId, found] of [
    [undefined, /^192.0.2.10 in net-1/],
    ["net-1", /^192.0.2.10 in net-1/],
    ["net-9", /^AddressNotUsable/],
  ] as const) {
    const cloud = createCloud("tier");
    cloud.addAddress({ ip: NAMED, ...placeOf(KINDS.tier), ...(networkId && { networkId }) });
    expect(choose(cloud, { address: NAMED })).toMatch(found);
  }
});

test("a named address is used in its own network, if a Node is there", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: NAMED, networkId: "net-2" });
  const backends = [toBackend(1), toBackend(2), toBackend(4, 2)];
  expect(choose(cloud, { address: NAMED, backends })).toBe(`${NAMED} in net-2`);
});

test("no address is taken while CloudStack is still taking the one that the record names", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.11", state: "Allocating" });
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const asked = { ip: "192.0.2.11", network, at: "2026-01-01T00:00:00Z", free: true };
  const record = toRecord({ address: asked });
  expect(choose(cloud, { record })).toMatch(/^AddressNotUsable: .*is being taken/);
  expect(choose(cloud, { record, address: "192.0.2.12" })).toMatch(
    /^AddressNotUsable: .*is being taken/,
  );
  expect(choose(cloud)).toBe("take any in net-1");
});

test("before another address is taken, the one that CloudStack may just be giving is told", () => {
  const cloud = createCloud();
  cloud.addAddress({ ip: "192.0.2.60", state: "Allocating" });
  const network = "01234567-89ab-4cde-8f01-23456789abcd";
  const asked = { network, at: "2026-01-01T00:00:00Z", free: false };
  const record = toRecord({ address: asked });
  const unsigned = JSON.stringify({ v: 1, uid: OWNER.uid, address: asked });
  for (const [claim, why] of [
    [{ record }, "may have taken it"],
    [{ record: unsigned }, "may mean it"],
    [{ record: unsigned, address: "192.0.2.10" }, "may mean it"],
  ] as const) {
    const spec = toSpec(claim);
    const { take, problems } = chooseAddress(toScene(cloud.view(), spec), spec);
    expect(take?.change.kind).toBe("takeAddress");
    expect(problems).toMatchObject([{ reason: "AddressNotOurs", isWaiting: false }]);
    expect(problems[0]?.message).toMatch(new RegExp(`^public IP 192\\.0\\.2\\.60 stays: .*${why}`));
  }
});

test("rules keep their network, whatever happens to the Nodes", () => {
  const cloud = createCloud();
  const { id } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1", tags: OURS });
  addOwnRules(cloud, id, 1);
  expect(choose(cloud, { backends: [toBackend(4, 2)] })).toBe("192.0.2.1 in net-1");
  expect(choose(cloud, { backends: [] })).toBe("192.0.2.1 in net-1");
  cloud.networks.delete("net-1");
  expect(choose(cloud, { backends: [toBackend(4, 2)] })).toMatch(/^NotKnown/);
});
