/**
 * Reading the objects of load balancers, as CloudStack sends them; the values are invented.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { anything, assert, constantFrom, dictionary, property } from "fast-check";
import { decode } from "../../../../lib/cloud_http/decode.ts";
import type { Field } from "../../../../lib/providers/cloudstack/wire/schema.ts";
import {
  ACL_ITEMS,
  ACL_LISTS,
  ADDRESSES,
  FIREWALL_RULES,
  MEMBERS,
  NETWORKS,
  POLICIES,
  RULES,
} from "../../../../lib/providers/cloudstack/wire/objects.ts";
import { LoadBalancingApi } from "../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";

const [A = "", B = "", C = ""] = ["a", "b", "c"].map(
  (end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`,
);
const ADDRESS = {
  id: A?.toUpperCase(),
  ipaddress: "192.0.2.10",
  allocated: "2026-01-02T03:04:05+0000",
  issourcenat: false,
  isstaticnat: "true",
  associatednetworkid: B,
  networkid: C,
  state: "Allocated",
  hasrules: true,
  tags: [{ key: "k", value: "v", resourcetype: "PublicIpAddress" }, { key: "empty" }],
};
const RULE = {
  id: A,
  name: "a0123-tcp-80",
  description: "",
  publicipid: B,
  publicip: "192.0.2.10",
  publicport: "80",
  privateport: "30080",
  algorithm: "roundrobin",
  cidrlist: "10.0.0.0/8 192.168.0.0/16",
  state: "Active",
  protocol: "tcp",
  networkid: C,
  tags: [],
};
const FIREWALL_RULE = {
  id: A,
  protocol: "tcp",
  startport: 80,
  endport: 80,
  ipaddressid: B,
  state: "Active",
  cidrlist: "10.0.0.0/8,192.168.0.0/16",
};
const ACL_ITEM = {
  id: A,
  protocol: "tcp",
  startport: "80",
  endport: "80",
  traffictype: "Ingress",
  state: "Active",
  cidrlist: "0.0.0.0/0",
  aclid: B,
  aclname: "k8s-acl",
  number: 1,
  action: "Allow",
  reason: "why",
};
const NETWORK = {
  id: A,
  name: "k8s",
  zoneid: B,
  vpcid: C,
  aclid: B,
  aclname: "k8s-acl",
  service: [{ name: "Lb" }],
};
const POLICY = {
  id: B,
  name: "cookie",
  methodname: "LbCookie",
  description: "ours",
  params: { "cookie-name": "SRV", nocache: null, holdtime: 5 },
  state: "",
};

const LB_SCHEMAS = {
  address: ADDRESSES.schema,
  rule: RULES.schema,
  firewallRule: FIREWALL_RULES.schema,
  aclItem: ACL_ITEMS.schema,
  network: NETWORKS.schema,
  stickiness: POLICIES.schema,
  aclList: ACL_LISTS.schema,
  identified: MEMBERS.schema,
} as const;

describe("objects", () => {
  test.each<[keyof typeof LB_SCHEMAS, object, object]>([
    [
      "address",
      ADDRESS,
      {
        id: A,
        ip: "192.0.2.10",
        state: "Allocated",
        allocatedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
        networkId: B,
        isSourceNat: false,
        isStaticNat: true,
        hasRules: true,
        tags: new Map([
          ["k", "v"],
          ["empty", ""],
        ]),
      },
    ],
    [
      "address",
      { id: A, ipaddress: "2001:DB8::1", vpcid: C },
      {
        id: A,
        ip: "2001:db8::1",
        state: "",
        vpcId: C,
        isSourceNat: false,
        isStaticNat: false,
        tags: new Map(),
      },
    ],
    [
      "rule",
      RULE,
      {
        id: A,
        name: "a0123-tcp-80",
        addressId: B,
        ip: "192.0.2.10",
        networkId: C,
        publicPort: 80,
        privatePort: 30_080,
        protocol: "tcp",
        algorithm: "roundrobin",
        cidrs: ["10.0.0.0/8", "192.168.0.0/16"],
        state: "Active",
      },
    ],
    [
      "firewallRule",
      FIREWALL_RULE,
      {
        id: A,
        addressId: B,
        protocol: "tcp",
        startPort: 80,
        endPort: 80,
        cidrs: ["10.0.0.0/8", "192.168.0.0/16"],
        state: "Active",
      },
    ],
    [
      "firewallRule",
      { id: A, ipaddressid: B, protocol: "ALL" },
      { id: A, addressId: B, protocol: "all", cidrs: [], state: "" },
    ],
    [
      "aclItem",
      ACL_ITEM,
      {
        id: A,
        listId: B,
        protocol: "tcp",
        startPort: 80,
        endPort: 80,
        cidrs: ["0.0.0.0/0"],
        isIngress: true,
        isAllow: true,
        number: 1,
        reason: "why",
      },
    ],
    [
      "network",
      NETWORK,
      {
        id: A,
        name: "k8s",
        zoneId: B,
        vpcId: C,
        aclListId: B,
        aclListName: "k8s-acl",
        hasLoadBalancers: true,
        hasFirewall: false,
        hasNetworkAcl: false,
        hasDns: false,
      },
    ],
    [
      "stickiness",
      { lbruleid: A, stickinesspolicy: [POLICY] },
      {
        id: A,
        policies: [
          {
            id: B,
            name: "cookie",
            method: "LbCookie",
            params: new Map([
              ["cookie-name", "SRV"],
              ["nocache", ""],
              ["holdtime", "5"],
            ]),
            description: "ours",
            state: "",
          },
        ],
      },
    ],
    ["stickiness", { lbruleid: A }, { id: A, policies: [] }],
    ["aclList", { id: A, name: "default_deny" }, { id: A, name: "default_deny" }],
    ["identified", { id: A, name: 7 }, { id: A }],
  ])("reads %s %#", (kind, body, expected) => {
    expect(decode<unknown>(LB_SCHEMAS[kind], body)).toEqual({ value: expected });
  });

  test("a list of CIDRs that cannot be read is absent, and not empty: empty means everyone", () => {
    const decoded = decode(LB_SCHEMAS.rule, { ...RULE, cidrlist: "10.0.0.0/8 all" });
    expect("value" in decoded && "cidrs" in decoded.value).toBe(false);
  });

  test.each<[keyof typeof LB_SCHEMAS, object]>([
    ["address", { ...ADDRESS, ipaddress: "none" }],
    ["address", { ...ADDRESS, tags: [{ value: "without key" }] }],
    ["rule", { ...RULE, name: undefined }],
    ["rule", { ...RULE, publicport: "80-90" }],
    ["rule", { ...RULE, publicipid: "17" }],
    ["rule", { ...RULE, networkid: undefined }],
    ["firewallRule", { ...FIREWALL_RULE, startport: "any" }],
    ["firewallRule", { ...FIREWALL_RULE, ipaddressid: undefined }],
    ["aclItem", { ...ACL_ITEM, action: "Maybe" }],
    ["aclItem", { ...ACL_ITEM, traffictype: undefined }],
    ["aclItem", { ...ACL_ITEM, number: "first" }],
    ["network", { ...NETWORK, service: undefined }],
    ["stickiness", { lbruleid: A, stickinesspolicy: [{ ...POLICY, id: 1 }] }],
  ])("cannot read %s %#, because a guess could change what is somebody else's", (kind, body) => {
    expect(decode<unknown>(LB_SCHEMAS[kind], body)).toHaveProperty("problem");
  });

  test("reads anything or says why not, and never throws", () => {
    const schemas = Object.values<Field<unknown>>(LB_SCHEMAS);
    const samples = [ADDRESS, RULE, FIREWALL_RULE, ACL_ITEM, NETWORK];
    const keys = constantFrom(...samples.flatMap((one) => Object.keys(one)));
    assert(
      property(anything(), dictionary(keys, anything()), (body, fields) => {
        for (const schema of schemas) {
          for (const one of [body, ...samples.map((sample) => ({ ...sample, ...fields }))]) {
            const decoded = decode(schema, one);
            expect("value" in decoded || decoded.problem !== "").toBe(true);
          }
        }
      }),
    );
  });
});

const signal = new AbortController().signal;

/** A list as the session gives it. */
type Answer = Partial<ObjectList<{ readonly id: string }>>;

let asked: { readonly command: string; readonly params?: object | undefined }[];
/** The next ones; the last one is given again and again. */
let answers: Answer[];
let api: LoadBalancingApi;

describe("LoadBalancingApi", () => {
  beforeEach(() => {
    asked = [];
    answers = [{}];
    api = new LoadBalancingApi({
      list: ({ command, params }) => {
        asked.push({ command, params });
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        // The session reads lists of any kind of objects.
        return Promise.resolve({ objects: [], undecodable: new Map(), ...answer } as never);
      },
    });
  });

  test("asks for everything that the user may see in the project", async () => {
    await api.listAll(ADDRESSES, "project", signal);
    await api.listAll(RULES, "project", signal);
    await api.listAll(FIREWALL_RULES, "project", signal);
    await api.listAll(NETWORKS, "project", signal);
    await api.listAll(ACL_ITEMS, "project", signal, { aclid: A });
    await api.readAclListName(A, "project", signal);
    await api.listRulesOf(A, "project", signal);
    const all = { listall: "true", projectid: "project" };
    expect(asked).toEqual([
      { command: "listPublicIpAddresses", params: all },
      { command: "listLoadBalancerRules", params: all },
      { command: "listFirewallRules", params: all },
      { command: "listNetworks", params: all },
      { command: "listNetworkACLs", params: { ...all, aclid: A } },
      { command: "listNetworkACLLists", params: { ...all, id: A } },
      { command: "listLoadBalancerRules", params: { ...all, virtualmachineid: A } },
    ]);
  });

  test("asks about one rule by its ID alone, and names no project without one", async () => {
    await api.listMembers(A, signal);
    await api.listPolicies(A, signal);
    await api.listAll(RULES, undefined, signal);
    expect(asked).toEqual([
      { command: "listLoadBalancerRuleInstances", params: { id: A } },
      { command: "listLBStickinessPolicies", params: { lbruleid: A } },
      { command: "listLoadBalancerRules", params: { listall: "true" } },
    ]);
  });

  test("reads a list again that changed meanwhile", async () => {
    answers = [{ gap: "the list changed" }, { gap: "the list changed" }, { objects: [{ id: A }] }];
    expect(await api.listMembers(A, signal)).toEqual(new Set([A]));
    expect(asked).toHaveLength(3);
  });

  test("gives no list that is not whole: what it lacks would look absent", async () => {
    answers = [{ gap: "a page is missing" }];
    await expect(api.listAll(RULES, undefined, signal)).rejects.toMatchObject({
      kind: "protocol",
      message: "CloudStack's list is not whole: a page is missing",
    });
  });

  test.each<[string, () => Promise<unknown>, object, object]>([
    [
      "an address",
      () => api.listAll(ADDRESSES, undefined, signal),
      { id: A.toUpperCase(), ipaddress: "192.0.2.1" },
      { kind: "address", id: A, name: "192.0.2.1", problem: "tags: odd" },
    ],
    [
      "a rule",
      () => api.listAll(RULES, undefined, signal),
      { id: A, name: "web", publicipid: B.toUpperCase() },
      { kind: "rule", id: A, name: "web", addressId: B, problem: "tags: odd" },
    ],
    [
      "a rule that says nothing",
      () => api.listAll(RULES, undefined, signal),
      { id: 7, name: null, publicipid: "17", publicip: "192.0.2.1" },
      { kind: "rule", problem: "id: odd" },
    ],
    [
      "a firewall rule",
      () => api.listAll(FIREWALL_RULES, undefined, signal),
      { id: A, ipaddressid: B },
      { kind: "firewallRule", id: A, addressId: B, problem: "tags: odd" },
    ],
    [
      "an ACL item",
      () => api.listAll(ACL_ITEMS, undefined, signal, { aclid: B }),
      { id: A, reason: "why" },
      { kind: "aclItem", id: A, name: "why", problem: "tags: odd" },
    ],
    [
      "a network",
      () => api.listAll(NETWORKS, undefined, signal),
      { id: A, name: "k8s" },
      { kind: "network", id: A, name: "k8s", problem: "tags: odd" },
    ],
  ])("says what is known of %s that cannot be read", async (_what, list, raw, expected) => {
    const undecodable = new Map([
      [A, "tags: odd"],
      ["#0", "id: odd"],
    ]);
    answers = [{ objects: [{ id: B }], undecodable, unreadable: [{ ...raw }] }];
    expect(await list()).toEqual({ objects: [{ id: B }], unreadable: [expected] });
  });

  test.each<[string, Answer]>([
    ["one that cannot be read", { undecodable: new Map([["#0", "id: must be a UUID"]]) }],
    ["a gap", { gap: "a page is missing" }],
  ])(
    "does not know the members and policies of a rule of a list with %s",
    async (_what, answer) => {
      answers = [{ objects: [{ id: A }], ...answer }];
      expect(await api.listMembers(A, signal)).toBeUndefined();
      expect(await api.listPolicies(A, signal)).toBeUndefined();
      await expect(api.listRulesOf(A, undefined, signal)).rejects.toMatchObject({
        kind: "protocol",
      });
    },
  );

  test("finds the name of a list, and only of that one", async () => {
    answers = [
      {
        objects: [
          { id: B, name: "other" },
          { id: A, name: "mine" },
        ] as never[],
      },
    ];
    expect(await api.readAclListName(A, undefined, signal)).toBe("mine");
    answers = [{ objects: [{ id: B, name: "other" }] as never[] }];
    expect(await api.readAclListName(A, undefined, signal)).toBeUndefined();
  });

  test("takes the policies of the rule, and of no other", async () => {
    const policies = [{ id: B }];
    answers = [
      {
        objects: [
          { id: B, policies: [{ id: A }] },
          { id: A, policies },
        ] as never[],
      },
    ];
    expect(await api.listPolicies(A, signal)).toEqual(policies as never[]);
  });
});
