import { describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import { toFirewallRule } from "../../../lib/simulator/cloudstack/world/firewall.ts";
import { summarizeCloud } from "../../../lib/simulator/cloudstack/world/summary.ts";
import { toPublicIp, type PublicIp } from "../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";
import { toAclItem } from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import {
  toAclList,
  toLoadBalancerRule,
  toPortForwarding,
  toStickinessPolicy,
  toVpc,
} from "../../support/cloud/cloudstack_rules.ts";

const story = createDemoWorld();
const vms = new Map((story.world.vms ?? []).map((vm) => [vm.name, vm]));
const [paris] = story.world.networks ?? [];

interface Options {
  readonly address?: string;
  readonly cidrList?: string;
  readonly isReversed?: boolean;
}

/** A cloud with one address that has something of everything. */
function createState(options: Options = {}): { state: CloudStackState; ip: PublicIp } {
  const { address = "192.0.2.50", cidrList = "10.0.0.0/8 10.1.0.0/16", isReversed } = options;
  const made = toPublicIp(address, story.zoneIds.paris, story.accountIds.acme);
  const ip: PublicIp = { ...made, ...(paris && { networkId: paris.id }) };
  const names = ["worker-1", "worker-2"];
  const members = (isReversed === true ? names.toReversed() : names).flatMap(
    (name) => vms.get(name) ?? [],
  );
  const rules = [
    toLoadBalancerRule({ ip, name: "web", cidrList, description: "d", vms: members }),
    toLoadBalancerRule({ ip, name: "api", publicPort: 81 }),
  ];
  const tag = { resourceType: "PublicIpAddress", resourceId: ip.id, accountId: "a" };
  const state = new CloudStackState({
    ...story.world,
    publicIps: [ip],
    loadBalancerRules: isReversed === true ? rules.toReversed() : rules,
    firewallRules: [toFirewallRule({ ip, startPort: 80, cidrs: ["10.1.0.0/16", "10.0.0.0/8"] })],
    stickinessPolicies: rules.map(({ id: ruleId, name }) =>
      toStickinessPolicy({ ruleId, name: `keep-${name}`, parameters: { expire: "30m" } }),
    ),
    portForwardings: [toPortForwarding({ ip, publicPort: 22, vmId: vms.get("cp-1")?.id ?? "" })],
    tags: [
      { ...tag, key: "b", value: "2" },
      { ...tag, key: "a", value: "1" },
    ],
  });
  return { state, ip };
}

describe("summarizeCloud()", () => {
  test("has names and sorted lists instead of IDs and times", () => {
    const sources = ["10.0.0.0/8", "10.1.0.0/16"];
    const applied = { algorithm: "roundrobin", protocol: "tcp", privatePort: 30_080, sources };
    const rule = { protocol: "tcp", algorithm: "roundrobin", network: "k8s-paris", tags: {} };
    const policy = { methodName: "SourceBased", description: undefined, isRevoked: false };
    const toPolicies = (name: string) => [{ ...policy, name, parameters: { expire: "30m" } }];
    expect(summarizeCloud(createState().state)).toEqual({
      addresses: [
        {
          address: "192.0.2.50",
          owner: "acme",
          state: "Allocated",
          network: "k8s-paris",
          vpc: undefined,
          nat: "none",
          tags: { a: "1", b: "2" },
          loadBalancerRules: [
            {
              ...rule,
              name: "api",
              description: undefined,
              ports: "81:30080",
              sources: [],
              state: "Add",
              members: [],
              applied: undefined,
              policies: toPolicies("keep-api"),
            },
            {
              ...rule,
              name: "web",
              description: "d",
              ports: "80:30080",
              sources,
              state: "Active",
              members: ["worker-1 10.10.0.21", "worker-2 10.10.0.22"],
              applied: { ...applied, backends: ["10.10.0.21", "10.10.0.22"] },
              policies: toPolicies("keep-web"),
            },
          ],
          firewallRules: [{ protocol: "tcp", ports: "80-80", sources, state: "Active", tags: {} }],
          portForwardings: [{ protocol: "tcp", ports: "22-22:22-22", vm: "cp-1", tags: {} }],
        },
      ],
      aclLists: [],
      orphans: [],
    });
  });

  test("has the items of network ACL lists in the order in which they decide, without numbers", () => {
    const vpc = toVpc("shop", story.zoneIds.paris, story.accountIds.acme);
    const list = toAclList("acl", vpc);
    const toItems = (web: number, api: number, deny: number): object[] => {
      const aclItems = [
        toAclItem({ list, number: deny, protocol: "all", action: "Deny", cidrs: ["::/0"] }),
        toAclItem({ list, number: web, startPort: 80, reason: "web" }),
        toAclItem({ list, number: api, startPort: 81 }),
        toAclItem({ list, number: 99, protocol: "all", trafficType: "Egress" }),
      ];
      const lists = { vpcs: [vpc], aclLists: [list], aclItems };
      return [...summarizeCloud(new CloudStackState({ ...story.world, ...lists })).aclLists];
    };
    const rest = { state: "Active", tags: {} };
    const web = { action: "Allow", protocol: "tcp", ports: "80-80", sources: ["0.0.0.0/0"] };
    const deny = { action: "Deny", protocol: "all", ports: "all", sources: ["::/0"], ...rest };
    const api = { ...web, ports: "81-81", ...rest };
    const expected = {
      name: "acl",
      vpc: "shop",
      ingress: [{ ...web, reason: "web", ...rest }, api, deny],
      egress: [{ ...web, protocol: "all", ports: "all", ...rest }],
    };
    expect(toItems(1, 2, 3)).toEqual([expected]);
    expect(toItems(20, 10, 30)).toEqual([expected]);
    expect(toItems(1, 3, 2)).not.toEqual([expected]);
  });

  test("is the same for the same sources, with blanks or commas, and for any order", () => {
    const summary = summarizeCloud(createState().state);
    const other = createState({ cidrList: "10.1.0.0/16,10.0.0.0/8", isReversed: true });
    expect(summarizeCloud(other.state)).toEqual(summary);
  });

  test("of an address that was chosen at random, it does not say which", () => {
    const isChosen = (_: PublicIp, tags: Readonly<Record<string, string>>): boolean =>
      tags["a"] === "1";
    const [one, two] = ["192.0.2.50", "192.0.2.51"].map((address) =>
      summarizeCloud(createState({ address }).state, { isChosen }),
    );
    expect(one).toEqual(two);
    expect(one?.addresses[0]?.address).toBe("any");
    const none = { isChosen: () => false };
    expect(summarizeCloud(createState().state, none).addresses[0]?.address).toBe("192.0.2.50");
  });

  test("shows how addresses are translated, and no free ones", () => {
    const summary = summarizeCloud(new CloudStackState(story.world));
    expect(summary.addresses.map(({ address, nat }) => [address, nat])).toEqual([
      ["192.0.2.10", "source"],
      ["192.0.2.11", "static cp-1"],
    ]);
  });

  test("names what belongs to nothing any more", () => {
    const { state, ip } = createState();
    state.purge(vms.get("worker-1")?.id ?? "");
    expect(summarizeCloud(state).orphans).toEqual([]);
    state.publicIps.delete(ip.id);
    expect(summarizeCloud(state).orphans).toEqual([
      expect.stringContaining("has no address"),
      expect.stringContaining("has no address"),
      expect.stringContaining("has no address"),
      expect.stringContaining("has no address"),
      "tag a of a PublicIpAddress that is gone",
      "tag b of a PublicIpAddress that is gone",
    ]);
    state.loadBalancerRules.clear();
    expect(summarizeCloud(state).orphans).toContain("policy keep-web has no rule");
  });
});
