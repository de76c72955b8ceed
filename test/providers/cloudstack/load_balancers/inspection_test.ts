/**
 * What `check` learns about load balancers, on the simulated CloudStack.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SHARED_WITH } from "../../../../lib/cloud/address_sharing.ts";
import type {
  ClusterFacts,
  LoadBalancerClaim,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { LB_COMMANDS } from "../../../../lib/providers/cloudstack/load_balancers/commands.ts";
import { toNetworkFinding } from "../../../../lib/providers/cloudstack/load_balancers/inspection.ts";
import type { Network } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { cloudStack } from "../../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../../../lib/simulator/cloudstack/mod.ts";
import { createNetworkKinds } from "../../../support/cloud/cloudstack_network_kinds.ts";
import {
  formatRecord,
  RecordSigner,
  SIGNING_PURPOSE,
} from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import { deriveKey } from "../../../../lib/providers/cloudstack/session/request.ts";
import { TAG_KEYS, toLbName } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { toDeps } from "../fake_server.ts";
import { toClaim } from "./observer_rig.ts";
import { toLoadBalancerRule } from "../../../support/cloud/cloudstack_rules.ts";

const { signal } = new AbortController();
const { world, vms, networks } = createNetworkKinds();
const NETWORK_ID = networks.isolated.id;
const ALL = ["listVirtualMachines", "listApis", ...LB_COMMANDS.map(({ name }) => name)];
const CLAIM = toClaim("01234567-89ab-cdef-0123-456789abcdef");

let simulator: CloudStackSimulator;
beforeEach(async () => {
  simulator = await startCloudStackSimulator({ clock: systemClock, world });
});
afterEach(() => simulator.stop());

/** What is found with a role, for Nodes on the VMs of one network. */
async function inspect(
  commands: readonly string[],
  {
    network = "isolated",
    besides = [],
    claims = [CLAIM],
    readCluster,
  }: {
    network?: keyof typeof vms;
    besides?: typeof vms.isolated;
    claims?: LoadBalancerClaim[];
    readCluster?: () => Promise<ClusterFacts | undefined>;
  } = {},
): Promise<readonly string[]> {
  simulator.user.role = { name: "landfall", commands };
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const { settings } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey }, {});
  if (settings === undefined) throw new Error("the settings cannot be used");
  const { loadBalancers } = cloudStack.create(settings, { ...toDeps(), clock: systemClock });
  const backends = [...vms[network], ...besides].map(({ id, name }) => ({
    nodeName: name,
    instanceId: id,
    internalIps: [],
  }));
  const known = { claims, backends, ...(readCluster && { readCluster }) };
  const found = (await loadBalancers?.inspect?.(known, signal)) ?? [];
  return found.map(({ level, code, message }) => `${level} ${code}: ${message}`);
}

describe("inspectLoadBalancing()", () => {
  test("is content with a role that allows everything, and names what the network offers", async () => {
    const [role, network, ...more] = await inspect(ALL);
    expect(role).toStartWith("ok loadBalancerRole: the role allows all");
    expect(network).toMatch(
      /^ok loadBalancerNetwork: network ".*" \(.*\) offers load balancing \(roundrobin/,
    );
    expect(network).toContain("firewall");
    expect(network).toContain("stickiness LbCookie");
    expect(more).toEqual([]);
    const sent = new Set(simulator.requests.entries.map(({ command }) => command));
    expect([...sent].filter((one) => !one.startsWith("list"))).toEqual([]);
    expect(simulator.requests.count("listApis")).toBe(1);
  });

  test("names the commands that the role lacks, those that all load balancers need first", async () => {
    const lacking = new Set(["createTags", "createNetworkACL"]);
    const found = await inspect(ALL.filter((one) => !lacking.has(one)));
    expect(found.slice(0, 2)).toEqual([
      "failure loadBalancerRole: the role lacks commands without which no load balancer works: createTags",
      "warning loadBalancerRole: the role lacks commands that some load balancers need: createNetworkACL",
    ]);
  });

  test("only warns of them while no Service asks for a load balancer", async () => {
    const found = await inspect(
      ALL.filter((one) => one !== "createTags"),
      { claims: [] },
    );
    expect(found[0]).toStartWith("warning loadBalancerRole");
  });

  test("says that it does not know the role without listApis", async () => {
    const [role] = await inspect(ALL.filter((one) => one !== "listApis"));
    expect(role).toStartWith("warning loadBalancerRole: the role has no listApis");
  });

  test("is content with a network without load balancing beside that of most Nodes, as the plan is", async () => {
    const found = await inspect(ALL, { besides: vms.shared.slice(0, 1) });
    const levels = found.map((line) => line.split(" ")[0]);
    expect(levels).toEqual(["ok", "ok", "ok"]);
    expect(found.join()).toContain("offers no load balancing: new load balancers are in network");
  });

  test("fails for a network without load balancing, and for networks that it may not see", async () => {
    const [, shared] = await inspect(ALL, { network: "shared" });
    expect(shared).toStartWith("failure loadBalancerNetwork");
    expect(shared).toContain("offers no load balancing");
    const found = await inspect(ALL.filter((one) => one !== "listNetworks"));
    expect(found.at(-1)).toMatch(/^failure loadBalancerNetwork: .*listNetworks/);
  });
});

describe("inspectLoadBalancing() of addresses", () => {
  const CLUSTER: ClusterFacts = {
    ids: ["us"],
    services: { uids: new Set(["live"]), addresses: new Set() },
  };

  /** Tags an address for each Service, as a process before did. @returns Their IPs */
  function tagFor(...uids: readonly string[]): readonly string[] {
    const { publicIps, tags } = simulator.state;
    const taken = [...publicIps.values()].filter(({ state }) => state === "Allocated");
    return uids.map((uid, at) => {
      const { id: resourceId = "", address = "", accountId = "" } = taken[at] ?? {};
      const tag = { resourceType: "PublicIpAddress", resourceId, accountId };
      tags.add({ ...tag, key: TAG_KEYS.cluster, value: "us" });
      tags.add({ ...tag, key: TAG_KEYS.serviceUid, value: uid });
      return address;
    });
  }

  const listCommands = (): (string | undefined)[] =>
    simulator.requests.entries.map(({ command }) => command);

  test("warns of those without a Service, by the Services that there are after the list", async () => {
    const [ip] = tagFor("gone", "live");
    const sent: (string | undefined)[] = [];
    const readCluster = async (): Promise<ClusterFacts> => {
      sent.push(...listCommands());
      return CLUSTER;
    };
    const [, , leftover, ...more] = await inspect(ALL, { readCluster });
    expect(leftover).toStartWith(`warning loadBalancerLeftover: public IP ${ip} (`);
    expect(more).toEqual([]);
    expect(sent).toContain("listPublicIpAddresses");
  });

  test("warns of Services on addresses that are not shared with them", async () => {
    const [ip = ""] = tagFor("live");
    const { publicIps, loadBalancerRules } = simulator.state;
    const found = [...publicIps.values()].find(({ address }) => address === ip);
    if (found === undefined) throw new Error("There is no address");
    const rule = toLoadBalancerRule({ ip: found, name: `${toLbName(CLAIM.owner.uid)}-tcp-80` });
    loadBalancerRules.set(rule.id, rule);
    const host = toClaim("live", { owner: { namespace: "bank", name: "host", uid: "live" } });
    const list = async (...claims: LoadBalancerClaim[]): Promise<readonly string[]> =>
      (await inspect(ALL, { claims, readCluster: async () => CLUSTER })).slice(2);
    const [warning, ...more] = await list(CLAIM, host);
    expect(more).toEqual([]);
    expect(warning).toStartWith(
      `warning loadBalancerNotShared: Service shop/web: Service bank/host has ${ip} and does not share it: `,
    );
    expect(await list(CLAIM, { ...host, annotations: { [SHARED_WITH]: "shop" } })).toEqual([]);
    // A Service that Landfall does not serve may give its word, too.
    expect(await list(CLAIM)).toEqual([]);
    // Nobody comes first on an address without tags: each of two that share it without a word is named.
    const { tags } = simulator.state;
    const [, other] = [...publicIps.values()].filter(({ state }) => state === "Allocated");
    for (const { key } of tags.of(found.id)) tags.remove(found.id, key);
    const tag = { resourceType: "PublicIpAddress", resourceId: other?.id ?? "", accountId: "" };
    tags.add({ ...tag, key: TAG_KEYS.keptFor, value: "shop" });
    const both = await list(CLAIM, { ...host, ingress: [{ ip }] });
    expect(both.filter((one) => one.includes(ip))).toEqual([
      expect.stringMatching(
        /^warning loadBalancerNotShared: Service shop\/web: Service bank\/host has /,
      ),
    ]);
  });

  test("names those that are kept, and warns of none of them", async () => {
    const [ip = ""] = tagFor("gone");
    const { publicIps, tags } = simulator.state;
    const kept = [...publicIps.values()].find(({ address }) => address === ip);
    const tag = { resourceType: "PublicIpAddress", resourceId: kept?.id ?? "", accountId: "" };
    tags.add({ ...tag, key: TAG_KEYS.keptFor, value: "shop" });
    const [, , ...found] = await inspect(ALL, { readCluster: async () => CLUSTER });
    expect(found).toEqual([
      `ok loadBalancerKept: 1 public IP is kept for Services of a namespace: ${ip} ("shop"); ` +
        "landfall services --kept lists them",
    ]);
  });

  test("names those without tags that a record names, or that our user took and nothing uses", async () => {
    const { jobs, state, user } = simulator;
    const free = [...state.publicIps.values()].filter((one) => one.state === "Free");
    const [recorded, taken, ofOthers] = free;
    if (!recorded || !taken || !ofOthers) throw new Error("There are no free addresses");
    for (const ip of [recorded, taken, ofOthers]) {
      Object.assign(ip, { state: "Allocated", accountId: user.accountId });
      const userId = ip === ofOthers ? "another" : user.id;
      const { accountId } = user;
      const about = { instanceType: "IpAddress", instanceId: ip.id };
      const command = "associateIpAddress";
      jobs.start({ command, userId, accountId, ...about, run: () => ({}) });
    }
    await Bun.sleep(simulator.settings.jobMs * 2);
    const place = { networkId: NETWORK_ID };
    const { id, address: ip } = recorded;
    const address = { id, ip, place, atMs: 0, wasFree: true };
    const signer = new RecordSigner(deriveKey(simulator.secretKey, SIGNING_PURPOSE));
    const record = formatRecord({ address }, CLAIM.owner.uid, signer) ?? "";
    const claims: [typeof CLAIM] = [{ ...CLAIM, record }];
    const known = { claims, readCluster: async () => CLUSTER };
    const [, , ...found] = await inspect(ALL, known);
    const warning = "warning loadBalancerUntagged";
    const byRecord =
      `${warning}: public IP ${ip} (${id}) carries no tag: ` +
      "Landfall was taking it for Service shop/web, whose record names it";
    expect(found).toEqual([
      byRecord,
      `${warning}: public IP ${taken.address} (${taken.id}) carries no tag: ` +
        "nothing uses it, and the API user of Landfall took it",
    ]);
    const few = ALL.filter((one) => one !== "listEvents");
    const without = await inspect(few, known);
    expect(without.filter((one) => one.startsWith(warning))).toEqual([byRecord]);
  });

  test("asks neither Kubernetes nor for rules if no address has a tag", async () => {
    const readCluster = (): Promise<never> => Promise.reject(new Error("asked"));
    expect(await inspect(ALL, { readCluster })).toHaveLength(2);
    expect(listCommands()).not.toContain("listLoadBalancerRules");
  });

  test("says that it does not know without the Services, or without the command", async () => {
    tagFor("gone");
    const unknown = "warning loadBalancerLeftover: it is not known";
    const without = await inspect(ALL, { readCluster: async () => undefined });
    expect(without.at(-1)).toStartWith(unknown);
    const few = ALL.filter((one) => one !== "listPublicIpAddresses");
    const refused = await inspect(few, { readCluster: async () => CLUSTER });
    expect(refused.at(-1)).toStartWith(unknown);
  });
});

const NETWORK: Network = {
  id: "n",
  name: "k8s",
  hasLoadBalancers: true,
  hasFirewall: false,
  hasNetworkAcl: false,
  hasDns: false,
};
const OLD = { major: 4, minor: 17, patch: 0 };
const NEW = { major: 4, minor: 18, patch: 0 };

test.each<[string, Partial<Network>, typeof OLD, string, string]>([
  ["firewall, old server", { hasFirewall: true }, OLD, "ok", "offers load balancing"],
  ["neither, old server", {}, OLD, "warning", "cannot restrict the clients"],
  ["neither, new server", {}, NEW, "ok", "offers load balancing"],
  [
    "ACL list default_deny",
    { hasNetworkAcl: true, aclListName: "default_deny" },
    NEW,
    "failure",
    "network ACL default_deny",
  ],
  ["own ACL list", { hasNetworkAcl: true, aclListName: "k8s" }, OLD, "ok", "network ACL k8s"],
])("toNetworkFinding() of a network with %s", (_what, over, version, level, words) => {
  const facts = { version, missing: "failure", chosen: NETWORK } as const;
  const finding = toNetworkFinding({ ...NETWORK, ...over }, facts);
  expect(finding).toMatchObject({ level, message: expect.stringContaining(words) });
});

test.each<[string, Partial<Network>, string, string]>([
  ["without load balancing", { hasLoadBalancers: false }, "ok", 'are in network "front"'],
  [
    "with the ACL list default_deny",
    { hasNetworkAcl: true, aclListName: "default_deny" },
    "warning",
    "network ACL default_deny",
  ],
])(
  "toNetworkFinding() is no failure for a network %s beside the chosen one",
  (_what, over, level, words) => {
    const chosen = { id: "other", name: "front" };
    const facts = { version: NEW, missing: "failure", chosen } as const;
    const finding = toNetworkFinding({ ...NETWORK, ...over }, facts);
    expect(finding).toMatchObject({ level, message: expect.stringContaining(words) });
  },
);
