/**
 * The record on a Service, and names of what is made: words are frozen, and hostile texts say nothing.
 * @module
 */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import {
  findUnsigned,
  formatRecord,
  type KeptRecord,
  parseRecord,
  RecordSigner,
  withoutJobs,
} from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import { SIGNER, SIGNING_KEY } from "./objects.ts";
import {
  ANNOTATIONS,
  describeRule,
  formatRuleName,
  isAclReason,
  isAclReasonOf,
  isOf1x,
  isPolicyDescription,
  isTagged,
  isTaggedFor,
  parseLbName,
  POLICY_DESCRIPTION,
  toAclReason,
  toLbName,
  toTags,
} from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { assert, constantFrom, integer, property, uuid } from "fast-check";

const UID = "11111111-2222-4333-8444-555555555555";
const ID = "aaaaaaaa-2222-4333-8444-555555555555";
const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const ADDRESS = {
  id: ID,
  ip: "192.0.2.10",
  place: { networkId: ID },
  atMs: AT_MS,
  wasFree: true,
} as const;
const JOB = { id: ID, command: "createLoadBalancerRule", objectId: UID } as const;

/** Every form that was ever written. */
const FROZEN: readonly [string, KeptRecord][] = [
  [
    `{"v":1,"uid":"${UID}","address":{"id":"${ID}","ip":"192.0.2.10","network":"${ID}",` +
      `"at":"2026-01-02T03:04:05Z","free":true},` +
      `"signature":"mPR85wfHUxYMaZ9cnrDQsQbvZDNRQsacQW_9qxc7Sd0"}`,
    { address: ADDRESS },
  ],
  [
    `{"v":1,"uid":"${UID}","address":{"vpc":"${ID}","at":"2026-01-02T03:04:05Z","free":false},` +
      `"signature":"bVjlmuGE2qdoldO5wh0h-zr7W32bNkLVb4zbOPRY97k"}`,
    { address: { place: { vpcId: ID }, atMs: AT_MS, wasFree: false } },
  ],
  [
    `{"v":1,"uid":"${UID}","job":{"id":"${ID}","command":"createLoadBalancerRule","object":"${UID}"},` +
      `"signature":"LCGD7Q8t3kncCj_8aUGiTRAEYiyPkpes_Wln44YUIiE"}`,
    { job: JOB },
  ],
  [
    `{"v":1,"uid":"${UID}","job":{"id":"${ID}","command":"deleteFirewallRule"},` +
      `"signature":"kLFwUdkvxCsOkxV4z_iO_lhgbq-in26FYOnvWhtpKfs"}`,
    { job: { id: ID, command: "deleteFirewallRule" } },
  ],
  [
    `{"v":1,"uid":"${UID}","shared":"192.0.2.10",` +
      `"signature":"heGo7blYC0l3N7Hvz39dILHY7l_nPTpLmGEMVK9d2Cc"}`,
    { shared: "192.0.2.10" },
  ],
];

/** A record with one field replaced. */
function change(part: "address" | "job" | "", key: string, value: unknown): string {
  const record = JSON.parse(formatRecord({ address: ADDRESS, job: JOB }, UID, SIGNER) ?? "");
  const object = part === "" ? record : record[part];
  if (value === undefined) delete object[key];
  else object[key] = value;
  return JSON.stringify(record);
}

/** What a text says, also if Landfall did not write it. */
function read(text: string): unknown {
  return parseRecord(text, UID, SIGNER) ?? findUnsigned(text, UID, SIGNER);
}

describe("the record", () => {
  test.each(FROZEN)("is written and read as %s", (text, record) => {
    expect(formatRecord(record, UID, SIGNER)).toBe(text);
    expect(parseRecord(text, UID, SIGNER)).toEqual(record);
  });

  test("with nothing to keep is no text, and no text is no record", () => {
    expect(formatRecord({}, UID, SIGNER)).toBeUndefined();
    expect(parseRecord(undefined, UID, SIGNER)).toBeUndefined();
    expect(parseRecord(`{"v":1,"uid":"${UID}"}`, UID, SIGNER)).toBeUndefined();
  });

  test("the largest one that Landfall writes is read again", () => {
    const ip = "2001:db8:1111:2222:3333:4444:5555:6666";
    const address = { ...ADDRESS, ip, place: { vpcId: ID } };
    const record = { address, job: { ...JOB, command: "c".repeat(64) } };
    const text = formatRecord(record, UID, SIGNER) ?? "";
    expect(text.length).toBeLessThan(600);
    expect(parseRecord(text, UID, SIGNER)).toEqual(record);
  });

  test("a copy on another Service says nothing", () => {
    expect(
      parseRecord(formatRecord({ address: ADDRESS }, UID, SIGNER), ID, SIGNER),
    ).toBeUndefined();
  });

  test.each<["address" | "job", string, unknown]>([
    ["address", "id", UID],
    ["address", "ip", "192.0.2.11"],
    ["address", "network", UID],
    ["address", "at", "2026-01-02T03:04:06Z"],
    ["address", "free", false],
    ["job", "id", UID],
    ["job", "command", "stopVirtualMachine"],
    ["job", "object", ID],
    ["job", "object", undefined],
  ])("with another %p.%s says nothing", (part, key, value) => {
    const text = change(part, key, value);
    expect(parseRecord(text, UID, SIGNER)).toBeUndefined();
    expect(findUnsigned(text, UID, SIGNER)?.place).toBeDefined();
  });

  test.each([undefined, null, "", 7, "AAAA", "\u0000", "x".repeat(43)])(
    "with the signature %p says nothing",
    (signature) => {
      const text = change("", "signature", signature);
      expect(parseRecord(text, UID, SIGNER)).toBeUndefined();
      expect(findUnsigned(text, UID, SIGNER)).toEqual(ADDRESS);
    },
  );

  test("that other keys signed says nothing", () => {
    const record = { address: ADDRESS };
    const text = formatRecord(record, UID, new RecordSigner()) ?? "";
    expect(parseRecord(text, UID, SIGNER)).toBeUndefined();
    expect(findUnsigned(text, UID, SIGNER)).toEqual(ADDRESS);
    expect(findUnsigned(formatRecord(record, UID, SIGNER), UID, SIGNER)).toBeUndefined();
  });

  test("that was signed with an earlier key of the process is valid, until many came after it", () => {
    const text = formatRecord({ address: ADDRESS }, UID, SIGNER);
    const next = (signer: RecordSigner): RecordSigner =>
      signer.withKey(crypto.getRandomValues(new Uint8Array(32)));
    let signer = SIGNER;
    for (let keys = 1; keys <= 4; keys += 1) {
      signer = next(signer);
      expect(formatRecord({ address: ADDRESS }, UID, signer)).not.toBe(text);
      expect(parseRecord(text, UID, signer)).toEqual({ address: ADDRESS });
    }
    expect(parseRecord(text, UID, next(signer))).toBeUndefined();
    expect(SIGNER.withKey(SIGNING_KEY)).toBe(SIGNER);
  });

  test("a field that is not known changes nothing", () => {
    expect(parseRecord(change("", "later", 1), UID, SIGNER)).toEqual({
      address: ADDRESS,
      job: JOB,
    });
  });

  test.each<["address" | "job" | "", string, unknown]>([
    ["", "v", 2],
    ["", "v", "1"],
    ["", "v", undefined],
    ["", "uid", undefined],
    ["", "address", null],
    ["", "address", []],
    ["", "address", "x"],
    ["", "job", 7],
    ["address", "id", "../../etc"],
    ["address", "id", null],
    ["address", "ip", "192.0.2.10/24"],
    ["address", "ip", "192.0.2.10&command=x"],
    ["address", "network", undefined],
    ["address", "network", "x"],
    ["address", "vpc", ID],
    ["address", "vpc", 1],
    ["address", "at", "yesterday"],
    ["address", "at", "2026-13-02T03:04:05Z"],
    ["address", "at", 7],
    ["address", "free", "true"],
    ["address", "free", undefined],
    ["job", "id", undefined],
    ["job", "id", "%0A"],
    ["job", "command", "stop&x=y"],
    ["job", "command", "x".repeat(65)],
    ["job", "command", undefined],
    ["job", "object", "x"],
  ])("with %p.%s = %p is none", (part, key, value) => {
    expect(read(change(part, key, value))).toBeUndefined();
  });

  test.each(["", "{", "[]", "null", "1", `"${UID}"`, "{}", `${" ".repeat(1_025)}{}`])(
    "the text %p is none",
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  test("a long text is none, whatever it says", () => {
    const text = change("", "later", "x".repeat(1_024));
    expect(read(text)).toBeUndefined();
  });

  test("no text makes it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        read(text);
        read(`{"v":1,"uid":"${UID}","address":${text}}`);
        read(`{"v":1,"uid":"${UID}","job":${text}}`);
      }),
    );
  });

  test("does not name a job that is over", () => {
    const record = { address: ADDRESS, job: JOB };
    expect(withoutJobs(record, new Set([UID]))).toBe(record);
    expect(withoutJobs(record, new Set([JOB.id]))).toEqual({ address: ADDRESS });
    expect(withoutJobs({ job: JOB }, new Set([JOB.id]))).toBeUndefined();
    const shared = "192.0.2.10";
    expect(withoutJobs({ job: JOB, shared }, new Set([JOB.id]))).toEqual({ shared });
    expect(withoutJobs(undefined, new Set([JOB.id]))).toBeUndefined();
  });
});

const OWNER = { namespace: "shop", name: "web", uid: "service" };

test("an address says which cluster and Service it belongs to", () => {
  expect(Object.fromEntries(toTags("cluster", OWNER))).toEqual({
    "landfall.dev/cluster": "cluster",
    "landfall.dev/service-uid": "service",
    "landfall.dev/service": "shop/web",
  });
  expect(POLICY_DESCRIPTION).toBe("Managed by Landfall");
});

test.each([
  ["cluster", "service", true],
  ["before", "service", true],
  ["another", "service", false],
  ["cluster", "another", false],
])("tags of cluster %s and Service %s are ours: %p", (cluster, uid, isOurs) => {
  const tags = toTags(cluster, { ...OWNER, uid });
  expect(isTaggedFor(tags, ["cluster", "before"], "service")).toBe(isOurs);
});

test("an address without tags is not ours", () => {
  expect(isTaggedFor(new Map(), ["cluster"], "service")).toBe(false);
});

test("rules, ACL items and policies say who made them", () => {
  const lbName = "a0123456789ab4cde8f0123456789abc";
  expect(describeRule(OWNER)).toBe("Managed by Landfall for shop/web");
  expect(toAclReason(lbName)).toBe(`Managed by Landfall for ${lbName}`);
  const apache = "Managed by the CloudStack Kubernetes Provider";
  const reasons = [
    toAclReason(lbName),
    `${apache} for ${lbName}`,
    toAclReason("other"),
    "mine",
    "",
  ];
  expect(reasons.map((one) => isAclReasonOf(lbName, one))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(reasons.map(isAclReason)).toEqual([true, true, true, false, false]);
  expect([POLICY_DESCRIPTION, apache, "mine", undefined].map(isPolicyDescription)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(["", undefined, describeRule(OWNER), "mine"].map(isOf1x)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("any tag of ours says that an address belongs to a Service", () => {
  expect(isTagged(toTags("cluster", OWNER))).toBe(true);
  expect(isTagged(new Map([["landfall.dev/service-uid", "x"]]))).toBe(true);
  expect(isTagged(new Map([["landfall.dev/service", "x"]]))).toBe(false);
});

test("annotations keep the names of the Go provider", () => {
  const prefix = "service.beta.kubernetes.io/cloudstack-load-balancer-";
  expect(Object.values(ANNOTATIONS).map((name) => name.replace(prefix, ""))).toEqual([
    "proxy-protocol",
    "hostname",
    "source-cidrs",
    "ip-associated-by-controller",
    "address",
    "landfall.dev/keep-address",
    "keep-ip",
    "stickiness-method-name",
    "stickiness-method-param",
  ]);
});

const SERVICE_UID = "01234567-89ab-cdef-0123-456789abcdef";
const LB_NAME = "a0123456789abcdef0123456789abcde";

test("toLbName() is Kubernetes' default, cut to 32 characters", () => {
  expect(toLbName(SERVICE_UID)).toBe(LB_NAME);
  expect(toLbName("short-uid")).toBe("ashortuid");
});

describe("parseLbName()", () => {
  test.each([
    `${LB_NAME}-tcp-80`,
    `${LB_NAME}-udp-65535`,
    `${LB_NAME}-tcp-proxy-443`,
    `${LB_NAME}-443`,
  ])("reads %s", (name) => {
    expect(parseLbName(name)).toBe(LB_NAME);
  });

  test.each([
    "",
    LB_NAME,
    `${LB_NAME}-`,
    `${LB_NAME}-tcp`,
    `${LB_NAME}-tcp-0`,
    `${LB_NAME}-tcp-080`,
    `${LB_NAME}-tcp-65536`,
    `${LB_NAME}-tcp-80-x`,
    `${LB_NAME}-TCP-80`,
    `${LB_NAME}-sctp-80`,
    `x${LB_NAME}-tcp-80`,
    `${LB_NAME}f-tcp-80`,
    `a-tcp-80`,
    `${LB_NAME}-tcp-80\n`,
  ])("reads no foreign name: %j", (name) => {
    expect(parseLbName(name)).toBeUndefined();
  });

  test("reads what formatRuleName() writes", () => {
    const protocols = constantFrom("tcp", "udp", "tcp-proxy");
    assert(
      property(uuid(), protocols, integer({ min: 1, max: 65_535 }), (uid, protocol, port) => {
        const lbName = toLbName(uid);
        const name = formatRuleName(lbName, protocol, port);
        expect(parseLbName(name)).toBe(lbName);
      }),
    );
  });
});
