/**
 * What is asked for, and what of an answer counts.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import { LoadBalancingApi } from "../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";

const [A = "", B = ""] = ["a", "b"].map((end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`);
const signal = new AbortController().signal;

/** A list as the session gives it. */
type Answer = Partial<ObjectList<{ readonly id: string }>>;

let asked: { readonly command: string; readonly params?: object | undefined }[];
/** The next ones; the last one is given again and again. */
let answers: Answer[];
let api: LoadBalancingApi;
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

describe("LoadBalancingApi", () => {
  test("asks for everything that the user may see in the project", async () => {
    await api.listAddresses("project", signal);
    await api.listRules("project", signal);
    await api.listFirewallRules("project", signal);
    await api.listNetworks("project", signal);
    await api.listAclItems(A, "project", signal);
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
    await api.listRules(undefined, signal);
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
    await expect(api.listRules(undefined, signal)).rejects.toMatchObject({
      kind: "protocol",
      message: "CloudStack's list is not whole: a page is missing",
    });
  });

  test.each<[string, () => Promise<unknown>, object, object]>([
    [
      "an address",
      () => api.listAddresses(undefined, signal),
      { id: A.toUpperCase(), ipaddress: "192.0.2.1" },
      { kind: "address", id: A, name: "192.0.2.1", problem: "tags: odd" },
    ],
    [
      "a rule",
      () => api.listRules(undefined, signal),
      { id: A, name: "web", publicipid: B.toUpperCase() },
      { kind: "rule", id: A, name: "web", addressId: B, problem: "tags: odd" },
    ],
    [
      "a rule that says nothing",
      () => api.listRules(undefined, signal),
      { id: 7, name: null, publicipid: "17" },
      { kind: "rule", problem: "id: odd" },
    ],
    [
      "a firewall rule",
      () => api.listFirewallRules(undefined, signal),
      { id: A, ipaddressid: B },
      { kind: "firewallRule", id: A, addressId: B, problem: "tags: odd" },
    ],
    [
      "an ACL item",
      () => api.listAclItems(B, undefined, signal),
      { id: A, reason: "why" },
      { kind: "aclItem", id: A, listId: B, name: "why", problem: "tags: odd" },
    ],
    [
      "a network",
      () => api.listNetworks(undefined, signal),
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
