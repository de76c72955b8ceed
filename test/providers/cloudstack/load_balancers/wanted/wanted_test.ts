import { expect, test } from "bun:test";
import type {
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import { annotate, DESCRIPTION, HTTP, LB_NAME, toSpec } from "../cloud/services.ts";

const UDP: LoadBalancerPort = { name: "dns", protocol: "UDP", port: 53, nodePort: 30_053 };

test("toWanted() makes one rule for each port, named after the Service", () => {
  const { wanted, problems } = toWanted(toSpec({ ports: [HTTP, UDP] }));
  expect(problems).toEqual([]);
  expect(wanted).toEqual({
    ports: [
      {
        name: `${LB_NAME}-tcp-80`,
        protocol: "tcp",
        ipProtocol: "tcp",
        publicPort: 80,
        privatePort: 30_080,
        isHttp: false,
      },
      {
        name: `${LB_NAME}-udp-53`,
        protocol: "udp",
        ipProtocol: "udp",
        publicPort: 53,
        privatePort: 30_053,
        isHttp: false,
      },
    ],
    description: DESCRIPTION,
    algorithm: "roundrobin",
  });
});

test("toWanted() uses the PROXY protocol for TCP only", () => {
  const annotations = annotate({ "proxy-protocol": "true" });
  const { wanted } = toWanted(toSpec({ ports: [HTTP, UDP], annotations }));
  expect(wanted?.ports.map(({ protocol, ipProtocol }) => [protocol, ipProtocol])).toEqual([
    ["tcp-proxy", "tcp"],
    ["udp", "udp"],
  ]);
});

test("toWanted() balances by source for the affinity to a client", () => {
  const { wanted } = toWanted(toSpec({ clientIpAffinity: { timeoutSeconds: 10 } }));
  expect(wanted?.algorithm).toBe("source");
});

test("toWanted() knows ports of HTTP by their application protocol", () => {
  const ports = [
    { ...HTTP, appProtocol: "http" },
    { ...UDP, appProtocol: "http" },
  ];
  expect(toWanted(toSpec({ ports })).wanted?.ports.map(({ isHttp }) => isHttp)).toEqual([
    true,
    false,
  ]);
});

const IMPOSSIBLE: readonly [string, Partial<LoadBalancerSpec>, RegExp][] = [
  ["no ports", { ports: [] }, /no ports/],
  ["SCTP", { ports: [HTTP, { protocol: "SCTP", port: 7, nodePort: 30_007 }] }, /port 7\/SCTP/],
  [
    "no node port",
    { ports: [{ name: "http", protocol: "TCP", port: 80 }] },
    /port 80\/TCP \(http\) has no node port/,
  ],
  ["node port 0", { ports: [{ ...HTTP, nodePort: 0 }] }, /port 80\/TCP \(http\) has no node port/],
  [
    "TCP and UDP on one port",
    { ports: [UDP, { ...UDP, protocol: "TCP" }] },
    /port 53 is there for TCP and for UDP/,
  ],
  ["IPv6 only", { ipFamilies: ["IPv6"] }, /IPv6 only/],
  ["source ranges of IPv6 only", { sourceRanges: ["::/0"] }, /no block of IPv4/],
  [
    "ranges and an annotation that have nothing in common",
    { sourceRanges: ["10.0.0.0/8"], annotations: annotate({ "source-cidrs": "192.0.2.0/24" }) },
    /nothing in common/,
  ],
  [
    "an empty annotation for sources",
    { annotations: annotate({ "source-cidrs": "" }) },
    /is empty/,
  ],
];
for (const [what, fields, message] of IMPOSSIBLE) {
  test(`toWanted() allows nothing to be made for ${what}`, () => {
    const { wanted, problems } = toWanted(toSpec(fields));
    expect(wanted).toBeUndefined();
    expect(problems.filter((one) => one.isWaiting !== false)).toHaveLength(1);
    expect(problems.map((one) => one.message).join("; ")).toMatch(message);
  });
}

const RANGES: readonly [
  string | undefined,
  string | undefined,
  string | undefined,
  string | undefined,
][] = [
  // Service, annotation, who may connect, list of the rules
  [undefined, undefined, undefined, undefined],
  ["0.0.0.0/0", undefined, undefined, undefined],
  ["0.0.0.0/1 128.0.0.0/1", undefined, undefined, undefined],
  ["10.0.0.0/8", undefined, "10.0.0.0/8", undefined],
  [undefined, "10.0.0.0/8", "10.0.0.0/8", "10.0.0.0/8"],
  [undefined, "0.0.0.0/0", undefined, undefined],
  ["10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/16", "10.1.0.0/16"],
  ["10.1.0.0/16", "10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8"],
];
for (const [ranges, cidrs, sources, list] of RANGES) {
  test(`ranges ${ranges} with the annotation ${cidrs} let in ${sources ?? "everyone"}`, () => {
    const { wanted } = toWanted(
      toSpec({
        ...(ranges !== undefined && { sourceRanges: ranges.split(" ") }),
        ...(cidrs !== undefined && { annotations: annotate({ "source-cidrs": cidrs }) }),
      }),
    );
    expect(wanted?.sources?.join(" ")).toBe(sources);
    expect(wanted?.ruleCidrs?.join(" ")).toBe(list);
  });
}

test("toWanted() drops ranges of IPv6, which cannot reach the address, and says so", () => {
  const { wanted, problems } = toWanted(toSpec({ sourceRanges: ["10.0.0.0/8", "2001:db8::/32"] }));
  expect(wanted?.sources).toEqual(["10.0.0.0/8"]);
  expect(problems).toMatchObject([{ reason: "SourceRangesNotPossible", isWaiting: false }]);
});

test("toWanted() says that a Service which requires both families gets IPv4", () => {
  const both: Partial<LoadBalancerSpec> = { ipFamilies: ["IPv4", "IPv6"] };
  const { problems } = toWanted(toSpec({ ...both, ipFamilyPolicy: "RequireDualStack" }));
  expect(problems).toMatchObject([{ reason: "UnsupportedService", isWaiting: false }]);
  expect(toWanted(toSpec({ ...both, ipFamilyPolicy: "PreferDualStack" })).problems).toEqual([]);
});

test("refused stickiness does not keep the rest from being made", () => {
  const annotations = annotate({ "stickiness-method-name": "AppCookie" });
  const { wanted, problems } = toWanted(toSpec({ annotations }));
  expect(wanted?.stickiness).toBe("refused");
  expect(problems).toMatchObject([{ reason: "StickinessNotPossible", isWaiting: true }]);
});
