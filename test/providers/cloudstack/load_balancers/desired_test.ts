import { expect, test } from "bun:test";
import type {
  LoadBalancerPort,
  LoadBalancerSpec,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  isAssociatedBy1x,
  parseStickiness,
  readAnnotations,
  toDesired,
} from "../../../../lib/providers/cloudstack/load_balancers/desired.ts";
import { annotate, HTTP, toSpec } from "./cloud/services.ts";
import {
  covers,
  intersect,
  isSame,
  sharesBlock,
} from "../../../../lib/providers/cloudstack/load_balancers/cidrs.ts";
import {
  isWaiting,
  PROBLEM_REASONS,
  toNotice,
  toWaiting,
} from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { longTest } from "../../../support/long_tests.ts";

const UDP: LoadBalancerPort = { name: "dns", protocol: "UDP", port: 53, nodePort: 30_053 };

test("toDesired() knows ports of HTTP by their application protocol", () => {
  const ports = [
    { ...HTTP, appProtocol: "http" },
    { ...UDP, appProtocol: "http" },
  ];
  expect(toDesired(toSpec({ ports })).desired.ports.map(({ isHttp }) => isHttp)).toEqual([
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
  test(`toDesired() allows nothing to be made for ${what}`, () => {
    const { isPossible, problems } = toDesired(toSpec(fields));
    expect(isPossible).toBeFalse();
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
    const { desired } = toDesired(
      toSpec({
        ...(ranges !== undefined && { sourceRanges: ranges.split(" ") }),
        ...(cidrs !== undefined && { annotations: annotate({ "source-cidrs": cidrs }) }),
      }),
    );
    expect(desired.sources?.join(" ")).toBe(sources);
    expect(desired.ruleCidrs?.join(" ")).toBe(list);
  });
}

test("toDesired() drops ranges of IPv6, which cannot reach the address, and says so", () => {
  const { desired, problems } = toDesired(
    toSpec({ sourceRanges: ["10.0.0.0/8", "2001:db8::/32"] }),
  );
  expect(desired.sources).toEqual(["10.0.0.0/8"]);
  expect(problems).toMatchObject([{ reason: "SourceRangesNotPossible", isWaiting: false }]);
});

test("toDesired() says that a Service which requires both families gets IPv4", () => {
  const both: Partial<LoadBalancerSpec> = { ipFamilies: ["IPv4", "IPv6"] };
  const { problems } = toDesired(toSpec({ ...both, ipFamilyPolicy: "RequireDualStack" }));
  expect(problems).toMatchObject([{ reason: "UnsupportedService", isWaiting: false }]);
  expect(toDesired(toSpec({ ...both, ipFamilyPolicy: "PreferDualStack" })).problems).toEqual([]);
});

const INTERSECTIONS: readonly [string, string, string][] = [
  ["10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/16"],
  ["10.1.0.0/16", "10.0.0.0/8", "10.1.0.0/16"],
  ["10.0.0.0/8", "192.168.0.0/16", ""],
  ["10.0.0.0/8 192.168.0.0/16", "192.168.1.0/24 10.2.0.0/16", "10.2.0.0/16 192.168.1.0/24"],
  ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/8"],
  ["10.0.0.0/8", "10.0.0.0/8", "10.0.0.0/8"],
];

for (const [a, b, both] of INTERSECTIONS) {
  test(`intersect() finds ${both || "nothing"} in ${a} and ${b}`, () => {
    expect(intersect(a.split(" "), b.split(" ")).join(" ")).toBe(both);
  });
}

const COVERED: readonly [string, string, boolean][] = [
  ["0.0.0.0/0", "10.0.0.0/8", true],
  ["10.0.0.0/8", "10.0.0.0/8", true],
  ["10.0.0.0/8", "10.0.0.0/7", false],
  ["0.0.0.0/1 128.0.0.0/1", "0.0.0.0/0", true],
  ["128.0.0.0/1 0.0.0.0/1", "0.0.0.0/0", true],
  ["0.0.0.0/1", "0.0.0.0/0", false],
  ["10.0.0.0/8", "10.0.0.0/8 192.168.0.0/16", false],
];

for (const [outer, inner, is] of COVERED) {
  test(`covers() says that ${outer} has ${is ? "all" : "not all"} of ${inner}`, () => {
    expect(covers(outer.split(" "), inner.split(" "))).toBe(is);
  });
}

longTest("lists of thousands of blocks are compared in a moment", () => {
  const list = Array.from({ length: 20_000 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
  const startedMs = performance.now();
  expect(intersect(list, [...list, "192.0.2.0/24"])).toEqual(list.toSorted());
  expect(covers(list, list.slice(1))).toBe(true);
  expect(covers(list.slice(1), list)).toBe(false);
  expect([isSame(list, list.toReversed()), sharesBlock(list, list.slice(-1))]).toEqual([
    true,
    true,
  ]);
  // It takes about 0.2 s. With a search through one list for each block of the other it took 30 s.
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

test("a block is in both lists if blocks of each hold it together", () => {
  expect(intersect(["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"])).toEqual([
    "10.0.0.0/9",
    "10.128.0.0/9",
  ]);
  expect(covers(["10.0.0.0/9", "10.128.0.0/9"], ["10.0.0.0/8"])).toBe(true);
  expect(covers(["10.0.0.0/9", "10.192.0.0/10"], ["10.0.0.0/8"])).toBe(false);
});

function read(values: Readonly<Record<string, string>>): ReturnType<typeof readAnnotations> {
  return readAnnotations(annotate(values));
}

test("readAnnotations() asks for nothing without annotations", () => {
  expect(readAnnotations({})).toEqual({ values: { isProxy: false }, problems: [] });
});

test("readAnnotations() reads each annotation", () => {
  const values = {
    "proxy-protocol": "true",
    hostname: "web.example.org",
    "source-cidrs": " 192.0.2.7/24 ,10.0.0.0/8",
    "stickiness-method-name": "SourceBased",
    "stickiness-method-param": "expire=30m",
  };
  expect(read(values)).toEqual({
    values: {
      isProxy: true,
      hostname: "web.example.org",
      sourceCidrs: ["10.0.0.0/8", "192.0.2.0/24"],
      stickiness: { method: "SourceBased", params: new Map([["expire", "30m"]]) },
    },
    problems: [],
  });
});

for (const value of ["TRUE", "1", "", "yes", "\u202etrue"]) {
  test(`the PROXY protocol is off for ${JSON.stringify(value)}, and the Service is told`, () => {
    const { values, problems } = read({ "proxy-protocol": value });
    expect(values.isProxy).toBe(false);
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: false }]);
    expect(problems[0]?.message).not.toContain("\u202e");
  });
}

const BAD_CIDRS = [
  "10.0.0.0/8,".repeat(1_001).slice(0, -1),
  "",
  " ",
  ",",
  "10.0.0.0/8,",
  "192.0.2.1",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "all",
  "0.0.0.0/0 10.0.0.0/8",
];
for (const value of BAD_CIDRS) {
  test(`source CIDRs ${JSON.stringify(value.slice(0, 40))} are a problem, and never mean everyone`, () => {
    const { values, problems } = read({ "source-cidrs": value });
    expect(values.sourceCidrs).toBe("refused");
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: true }]);
  });
}

for (const value of ["Web.example.org", "a b", "192.0.2.1", "-x", "x".repeat(300), "x\n"]) {
  test(`the hostname ${JSON.stringify(value.slice(0, 20))} is a problem`, () => {
    const { values, problems } = read({ hostname: value });
    expect(values.hostname).toBeUndefined();
    expect(problems).toMatchObject([{ reason: "InvalidAnnotation", isWaiting: true }]);
  });
}

test("an empty hostname is none, and a host may have any name", () => {
  expect(read({ hostname: "" })).toEqual({ values: { isProxy: false }, problems: [] });
  expect(read({ hostname: "refused" }).values.hostname).toBe("refused");
});

test("isAssociatedBy1x() believes only the word that version 1.x wrote", () => {
  expect(isAssociatedBy1x(annotate({ "ip-associated-by-controller": "true" }))).toBe(true);
  expect(isAssociatedBy1x(annotate({ "ip-associated-by-controller": "True" }))).toBe(false);
  expect(isAssociatedBy1x({})).toBe(false);
});

test("parseStickiness() reads nothing from nothing", () => {
  expect(parseStickiness(undefined, undefined)).toBeUndefined();
  expect(parseStickiness("", "")).toBeUndefined();
});

const GOOD: readonly [string, string, Record<string, string>][] = [
  ["SourceBased", "", {}],
  ["SourceBased", "tablesize=200k,expire=30m", { tablesize: "200k", expire: "30m" }],
  ["LbCookie", "cookie-name=lb, mode=insert", { "cookie-name": "lb", mode: "insert" }],
  ["LbCookie", "nocache,indirect=true", { nocache: "true", indirect: "true" }],
];
for (const [method, text, params] of GOOD) {
  test(`parseStickiness() reads ${method} with ${text || "no parameter"}`, () => {
    expect(parseStickiness(method, text)).toEqual({
      method: method === "LbCookie" ? "LbCookie" : "SourceBased",
      params: new Map(Object.entries(params)),
    });
  });
}

const BAD: readonly [string | undefined, string | undefined][] = [
  ["AppCookie", undefined],
  ["lbcookie", undefined],
  ["Sticky", undefined],
  [undefined, "expire=30m"],
  ["SourceBased", "expire"],
  ["SourceBased", "expire="],
  ["SourceBased", "expire=30"],
  ["SourceBased", "expire=30m,expire=40m"],
  ["SourceBased", "tablesize=200"],
  ["SourceBased", "tablesize=0k"],
  ["SourceBased", "cookie-name=x"],
  ["SourceBased", "expire=30m,"],
  ["LbCookie", "mode=any"],
  ["LbCookie", "nocache=false"],
  ["LbCookie", "cookie-name=a b"],
  ["LbCookie", "cookie-name=a=b"],
  ["LbCookie", "cookie-name=a&b"],
  ["LbCookie", 'cookie-name=a"b'],
  ["LbCookie", "cookie-name=a'b"],
  ["LbCookie", "cookie-name=a\\b"],
  ["LbCookie", "cookie-name=a#b"],
  ["LbCookie", "cookie-name=a\nb"],
  ["LbCookie", `cookie-name=${"x".repeat(200)}`],
  ["LbCookie", "__proto__=x"],
];
for (const [method, params] of BAD) {
  test(`parseStickiness() refuses ${JSON.stringify([method, params?.slice(0, 30)])}`, () => {
    const found = parseStickiness(method, params);
    expect(found).toMatchObject({ reason: "StickinessNotPossible", isWaiting: true });
  });
}

test("a Service waits for a problem, unless the problem says that it is only worth knowing", () => {
  expect(isWaiting([])).toBe(false);
  expect(isWaiting([toNotice("AddressKept", "x")])).toBe(false);
  expect(isWaiting([toNotice("AddressKept", "x"), toWaiting("PortInUse", "x")])).toBe(true);
  expect(isWaiting([{ reason: "PortInUse", message: "x" }])).toBe(true);
});

test("reasons are words of Events, which never change", () => {
  expect(Object.keys(PROBLEM_REASONS).toSorted()).toEqual([
    "AddressKept",
    "AddressNotOurs",
    "AddressNotShared",
    "AddressNotUsable",
    "InvalidAnnotation",
    "NetworkNotUsable",
    "NodesInOtherNetworks",
    "NotKnown",
    "PortInUse",
    "SourceRangesNotPossible",
    "StickinessNotPossible",
    "UnreadableObject",
    "UnsupportedService",
  ]);
});
