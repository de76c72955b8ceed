/**
 * The scenarios of Services: each once without a crash, and once for each of some requests with one.
 * @module
 */
import { isOfTurn, readExtent } from "../../../support/extent.ts";
import { type Asked, type CrashPoint, tellWithCrashes } from "../../crash_points.ts";
import type { Telling } from "../scenario.ts";
import { type ServiceStory, tellService, type Act } from "./stage.ts";
import { LB_COMMANDS } from "../../../../lib/providers/cloudstack/load_balancers/commands.ts";
import { toFirewallRule } from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { dropRule } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import type { PublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { toRegistration } from "../../../support/nodes/nodes.ts";
import type { CloudStackWorld } from "../../cloudstack/cloud.ts";
import { KEEP, POOL, PREFIX, SELECTOR, WORD } from "../../cloudstack/services/wishes.ts";
import { toLoadBalancerRule } from "../../../support/cloud/cloudstack_rules.ts";

/** Shorter and longer than the time until the process asks about a job for the first time, in milliseconds. */
const SHORT_JOB_MS = 200;
const LONG_JOB_MS = 2_000;
/** Where only some tests run, one of so many changes for most stories, and not the same ones in each. */
const SHARE = 7;
/** Where all tests run, so many runs together have all crash points. */
const RUNS = 3;

/** How a story is told.  */
interface How {
  readonly jobMs: number;
  /** One of so many changes is a crash point, where only some tests run. */
  readonly share: number;
  readonly number: number;
}

function toTelling(story: ServiceStory, how: How): Telling {
  const { jobMs } = how;
  const { name, isOfCi = false, hasCrashes = true } = story;
  return {
    name,
    isOfCi,
    hasPoints: hasCrashes,
    tell: (only) => {
      const tell = (point?: CrashPoint, whole?: Awaited<ReturnType<typeof tellService>>) =>
        tellService(story, jobMs, { ...(point && { point }), ...(whole && { whole }) });
      return tellWithCrashes(tell, (asked) => (hasCrashes ? listPoints(asked, how) : []), only);
    },
  };
}

/**
 * After the server did some of the changes. Where all tests run, before and after each change, and after the last
 * question; with long jobs also after each question, when they may not be over.
 */
function listPoints(asked: readonly Asked[], { jobMs, share, number }: How): CrashPoint[] {
  const isAll = readExtent() === "all";
  const isLong = jobMs === LONG_JOB_MS;
  return asked.flatMap(({ isChange }, index): CrashPoint[] => {
    const at = index + 1;
    const isPicked = isChange ? isAll || (at + number) % share === 0 : isAll && isLong;
    if (isAll && at < asked.length && !isOfTurn(at + number, RUNS)) return [];
    return [
      ...(isAll && isChange && !isLong ? [{ at, when: "before" } as const] : []),
      ...(isPicked || (isAll && at === asked.length) ? [{ at, when: "after" } as const] : []),
    ];
  });
}

/** Address of the user, with rules that are not of the cluster. */
const USED_IP = "203.0.1.20";
/** Address of the user without rules. */
const PINNED_IP = "203.0.1.21";
/** Address of the user that is the source NAT of the network. */
const SOURCE_NAT_IP = "203.0.1.1";
/** A free address. */
const FREE_IP = "198.51.1.10";
const WEB = { name: "web", namespace: "default" } as const;
const SHOP = { name: "shop", namespace: "default" } as const;
const OTHER = { name: "other", namespace: "other" } as const;

interface Port {
  readonly name: string;
  readonly port: number;
  readonly nodePort: number;
  readonly protocol?: "TCP" | "UDP";
  readonly appProtocol?: string;
}

const HTTP: Port = { name: "http", port: 80, nodePort: 30_080 };
const HTTPS: Port = { name: "https", port: 443, nodePort: 30_443 };
const DNS: Port = { name: "dns", port: 5353, nodePort: 30_053, protocol: "UDP" };

interface Wishes {
  readonly ports?: readonly Port[];
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  /** @default {WEB} */
  readonly service?: typeof WEB | typeof SHOP | typeof OTHER;
}

function create({ ports = [HTTP], spec = {}, annotations = {}, service = WEB }: Wishes = {}) {
  return ({ server: { objects } }: CloudStackWorld): void => {
    const { namespace } = service;
    if (objects.get("namespaces", { name: namespace }) === undefined)
      objects.create("namespaces", { metadata: { name: namespace } });
    objects.create("services", {
      metadata: { ...service, annotations },
      spec: { type: "LoadBalancer", selector: { app: "web" }, ports: toPorts(ports), ...spec },
    });
  };
}

function change({ ports, spec = {}, annotations }: Wishes) {
  return ({ server: { objects }, cloud }: CloudStackWorld): void => {
    if (spec["loadBalancerIP"] !== undefined) {
      const { uid } = objects.get("services", WEB)?.metadata ?? {};
      const life = cloud.balancing?.knowledge.find(String(uid));
      if (life) life.mayMove = true;
    }
    objects.patch("services", WEB, {
      ...(annotations && { metadata: { annotations } }),
      spec: { ...(ports && { ports: toPorts(ports) }), ...spec },
    });
  };
}

function remove({ server: { objects } }: CloudStackWorld): void {
  objects.delete("services", WEB);
}

function removeShop({ server: { objects } }: CloudStackWorld): void {
  objects.delete("services", SHOP);
}

/** The Service names an address. */
function at(loadBalancerIP: string): Wishes {
  return { spec: { loadBalancerIP } };
}

/** Only some clients may reach the Service. */
function from(...loadBalancerSourceRanges: string[]): Wishes {
  return { spec: { loadBalancerSourceRanges } };
}

function annotate(key: string, value: string): Wishes {
  return { annotations: { [`${PREFIX}${key}`]: value } };
}

function removeOther({ server: { objects } }: CloudStackWorld): void {
  objects.delete("services", OTHER);
}

/** The Service `shop` shares its address with all namespaces, or with none. */
function share(word: "*" | null): Act {
  return ({ server: { objects } }) =>
    objects.patch("services", SHOP, { metadata: { annotations: { [WORD]: word } } });
}

/** The Service of another namespace names no address any more. */
const nameNone: Act = ({ server: { objects }, cloud }) => {
  const { uid } = objects.get("services", OTHER)?.metadata ?? {};
  const life = cloud.balancing?.knowledge.find(String(uid));
  if (life) life.mayMove = true;
  objects.patch("services", OTHER, { spec: { loadBalancerIP: null } });
};

/** It stays on the address of `shop`, and asks for a port that `shop` has. */
const nameNoneAtTakenPort: Act = (world) => {
  nameNone(world);
  const ports = toPorts([HTTPS, { ...HTTP, nodePort: 30_081 }]);
  world.server.objects.patch("services", OTHER, { spec: { ports } });
};

/** Landfall takes the address for the Service `shop`; then one of another namespace names it, too. */
const createShop = create({ service: SHOP, ...at(FREE_IP) });
const createOther = create({ service: OTHER, ports: [HTTPS], ...at(FREE_IP) });
const GUEST: readonly Act[] = [createShop, share("*"), createOther];

/** Landfall takes the address for the Service `shop`; then `web` names it, too. */
const SHARED = [
  create({ service: SHOP, ...at(FREE_IP) }),
  create({ ports: [HTTPS], ...at(FREE_IP) }),
] as const;

function toPorts(ports: readonly Port[]): JsonObject[] {
  return ports.map((port) => ({ protocol: "TCP", ...port, targetPort: 8080 }));
}

/** As the Apache provider left it: a rule that says no maker, and its firewall rule. */
function createWithLeftover(wishes: Wishes, ip: string) {
  return (world: CloudStackWorld): void => {
    create({ ...wishes, spec: { ...wishes.spec, loadBalancerIP: ip } })(world);
    const uid = String(world.server.objects.get("services", WEB)?.metadata["uid"] ?? "");
    leave(world, findAddress(world, ip), `a${uid.replaceAll("-", "")}`.slice(0, 32));
  };
}

/** As Leaseweb's provider left it: an address that it took, and a rule with the name of the Service. */
function createOfLeaseweb(world: CloudStackWorld): void {
  const { networkId = "", accountId = "" } = findAddress(world, PINNED_IP);
  const ip = findAddress(world, FREE_IP);
  Object.assign(ip, { state: "Allocated", networkId, accountId, allocatedMs: 0 });
  const noted = { address: FREE_IP, id: ip.id, "network-id": networkId };
  const annotations = Object.fromEntries(
    Object.entries(noted).map(([key, value]) => [`${PREFIX}${key}`, value]),
  );
  create({ ports: [HTTP, HTTPS], annotations })(world);
  const status = { loadBalancer: { ingress: [{ ip: FREE_IP, ipMode: "VIP" }] } };
  world.server.objects.patch("services", WEB, { status });
  leave(world, ip, "K8s_svc_my_cluster_default_web");
}

function findAddress({ cloud: { state } }: CloudStackWorld, ip: string): PublicIp {
  const found = [...state.publicIps.values()].find((one) => one.address === ip);
  if (found === undefined) throw new Error(`There is no address ${ip}`);
  return found;
}

/** Leaves a rule of another provider for port 80, with its firewall rule. */
function leave({ cloud: { state }, machines }: CloudStackWorld, ip: PublicIp, name: string): void {
  const rule = toLoadBalancerRule({
    ip,
    name: `${name}-tcp-80`,
    cidrList: "0.0.0.0/0",
    vms: [state.vm(machines.get("n1") ?? "")],
  });
  state.loadBalancerRules.set(rule.id, rule);
  const firewallRule = toFirewallRule({ ip, startPort: 80 });
  state.firewallRules.set(firewallRule.id, firewallRule);
}

/** The change makes Landfall look, and it cannot make the rule again. */
function loseRule({ cloud: { state, server }, server: { objects } }: CloudStackWorld): void {
  for (const { id, name } of state.loadBalancerRules.values()) {
    if (name.endsWith("-tcp-80")) dropRule(state, id);
  }
  server.faults.set(
    { kind: "error", code: 530 },
    { command: "createLoadBalancerRule", times: 100 },
  );
  objects.patch("services", WEB, { spec: { sessionAffinity: "ClientIP" } });
}

/** The role lacks what says who took an address. */
const denyJobs: Act = ({ cloud: { server } }) => {
  const names = [...LB_COMMANDS.map(({ name }) => name), "listVirtualMachines", "listZones"];
  const denied = new Set(["listAsyncJobs", "listEvents"]);
  server.user.role.commands = names.filter((name) => !denied.has(name));
};

/** What there is before, and the change. */
type Row = readonly [
  name: string,
  before: readonly Act[],
  act: Act,
  more?: Omit<ServiceStory, "act" | "before" | "name">,
];

const getOtherTypeAndPort: Act = ({ server }) => {
  const ports = toPorts([HTTPS]).map((port) => ({ ...port, nodePort: null }));
  server.objects.patch("services", WEB, { spec: { type: "ClusterIP", ports } });
};

const loseStickiness: Act = ({ server }) => {
  const annotations = { [`${PREFIX}stickiness-method-name`]: null };
  server.objects.patch("services", WEB, { metadata: { annotations } });
};

const removeBoth: Act = (world) => {
  removeShop(world);
  remove(world);
};

const loseNode: Act = ({ server }) => server.objects.deleteNode("n1");

/** CloudStack gives no address, so only the record says that one was asked for. */
const createWithoutAddress: Act = (world) => {
  const { faults } = world.cloud.server;
  faults.set({ kind: "reset" }, { command: "associateIpAddress", times: 100 });
  create()(world);
};

const removeWithNodes: Act = (world) => {
  for (const { metadata } of world.server.nodes) world.server.objects.deleteNode(metadata.name);
  remove(world);
};

const exclude: Act = ({ server }) => {
  const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };
  server.objects.patchNode("n2", { metadata: { labels } });
};

/** The Service chooses the Nodes of a pool, in which n2 is. */
const chooseNodes: Act = ({ server: { objects } }) => {
  objects.patchNode("n2", { metadata: { labels: { [POOL]: "a" } } });
  objects.patch("services", WEB, { metadata: { annotations: { [SELECTOR]: `${POOL}=a` } } });
};

const joinPool: Act = ({ server }) =>
  server.objects.patchNode("n1", { metadata: { labels: { [POOL]: "a" } } });

/** A new Node needs nothing of Landfall, and CloudStack shows its VM only later. */
const joinBeforeMachine: Act = (world) => {
  const { server, cloud, timeline } = world;
  const systemUuid = world.addMachine("n4");
  const [nic] = cloud.state.vm(systemUuid).nics;
  const addresses = [["InternalIP", nic?.ipAddress ?? ""]] as const;
  timeline.schedule(15_000, cloud.forget(systemUuid));
  const providerId = `external-cloudstack://${systemUuid}`;
  server.objects.createNode(
    toRegistration("n4", { systemUuid, providerId, uninitialized: false, addresses }),
  );
  world.boot("n4");
};

const STICKY = annotate("stickiness-method-name", "SourceBased");
const BOTH = create({ ports: [HTTP, HTTPS] });
const ALL = create({ ports: [HTTP, HTTPS, DNS] });
const OF_CI = { isOfCi: true };
const DENSE = { isDense: true };
/** The address is not one that Landfall chose. */
const NAMED = { namesAddress: true };
const FREED = { ...NAMED, frees: FREE_IP };
/** The address stays when the Service goes. */
const KEEPING = create({ ...at(FREE_IP), annotations: { [KEEP]: "true" } });
const KEPT = { ...NAMED, keeps: FREE_IP };
const TIER = { network: "tier" } as const;
const OPEN = { network: "open" } as const;

const ROWS: readonly Row[] = [
  ["service-names-address-of-another-namespace", [createShop], createOther, NAMED],
  [
    "service-whose-address-another-namespace-names-is-deleted",
    [createShop, createOther],
    removeShop,
    NAMED,
  ],
  ["service-joins-address-of-another-namespace", [createShop, share("*")], createOther, NAMED],
  [
    "service-that-shares-no-more-is-deleted-and-its-address-ends",
    [...GUEST, nameNone, share(null)],
    removeShop,
  ],
  ["service-that-shares-its-address-is-deleted", GUEST, removeShop, NAMED],
  [
    "last-service-on-address-of-another-namespace-is-deleted",
    [...GUEST, removeShop],
    removeOther,
    FREED,
  ],
  [
    "service-that-address-was-taken-for-is-deleted-while-another-one-uses-it",
    SHARED,
    removeShop,
    { ...NAMED, ...OF_CI },
  ],
  [
    "last-service-on-address-of-one-that-is-gone-is-deleted",
    [...SHARED, removeShop],
    remove,
    { ...FREED, ...OF_CI },
  ],
  [
    "last-service-on-address-of-one-that-is-gone-moves",
    [...SHARED, removeShop],
    change(at(PINNED_IP)),
    FREED,
  ],
  [
    "service-on-address-of-another-one-names-none-any-more",
    SHARED,
    change({ spec: { loadBalancerIP: null } }),
    { ...NAMED, ...OF_CI },
  ],
  [
    "service-that-names-address-of-another-one-no-more-asks-for-its-port",
    GUEST,
    nameNoneAtTakenPort,
    { ...NAMED, ...OF_CI },
  ],
  ["both-services-on-address-are-deleted-at-once", SHARED, removeBoth, FREED],
  [
    "service-whose-rule-was-deleted-by-hand-gets-another-type-and-port",
    [create(at(FREE_IP)), loseRule],
    getOtherTypeAndPort,
    // Only the process that had the rule knows whose its firewall rule is. Another one keeps the address and says so.
    { ...FREED, hasCrashes: false },
  ],
  ["service-is-created", [], create(), DENSE],
  [
    "service-is-created-on-server-that-lists-ended-jobs",
    [],
    create(),
    { ...DENSE, settings: { listsEndedJobs: true } },
  ],
  ["service-is-created-without-right-to-list-jobs", [denyJobs], create(), DENSE],
  [
    "service-is-created-where-free-addresses-are-hidden",
    [],
    create(),
    { ...DENSE, settings: { showsFreeIps: false }, needsNobody: true },
  ],
  [
    "service-is-created-where-free-addresses-are-hidden-without-right-to-list-jobs",
    [denyJobs],
    create(),
    { ...DENSE, settings: { showsFreeIps: false } },
  ],
  [
    "service-is-created-without-right-to-list-jobs-on-server-that-lists-ended-jobs",
    [denyJobs],
    create(),
    { ...OF_CI, settings: { listsEndedJobs: true } },
  ],
  ["service-with-three-ports-is-created", [], ALL, OF_CI],
  [
    "service-that-restricts-its-clients-is-created",
    [],
    create(from("10.0.0.0/8", "192.168.0.0/16")),
    OF_CI,
  ],
  ["port-is-added", [create()], change({ ports: [HTTP, HTTPS] })],
  ["port-is-removed", [BOTH], change({ ports: [HTTPS] })],
  ["port-gets-another-node-port", [create()], change({ ports: [{ ...HTTP, nodePort: 30_081 }] })],
  ["clients-change-to-others", [create(from("10.0.0.0/8"))], change(from("192.168.0.0/16"))],
  [
    "clients-change-in-part",
    [create(from("10.0.0.0/8", "172.16.0.0/12"))],
    change(from("10.0.0.0/8", "192.168.0.0/16")),
    OF_CI,
  ],
  [
    "port-changes-from-tcp-to-udp",
    [create({ ports: [{ ...DNS, protocol: "TCP" }] })],
    change({ ports: [DNS] }),
  ],
  ["service-gets-proxy-protocol", [create()], change(annotate("proxy-protocol", "true"))],
  ["service-gets-affinity", [create()], change({ spec: { sessionAffinity: "ClientIP" } }), OF_CI],
  ["service-with-address-of-user-is-created", [], create(at(PINNED_IP)), OF_CI],
  ["service-beside-other-rules-on-address-of-user-is-created", [], create(at(USED_IP))],
  ["service-that-names-free-address-is-created", [], create(at(FREE_IP)), NAMED],
  [
    "service-moves-to-address-of-user",
    [create(at(FREE_IP))],
    change(at(PINNED_IP)),
    { frees: FREE_IP, ...NAMED },
  ],
  ["service-gets-hostname", [create()], change(annotate("hostname", "web.example.com")), OF_CI],
  ["service-gets-stickiness", [create()], change(STICKY)],
  ["service-loses-stickiness", [create(STICKY)], loseStickiness, OF_CI],
  ["node-leaves", [BOTH], loseNode],
  ["node-comes-before-its-machine", [create()], joinBeforeMachine, { hasCrashes: false }],
  ["node-must-not-get-traffic-any-more", [create()], exclude],
  ["service-chooses-its-nodes", [create()], chooseNodes],
  ["node-gets-label-that-service-chooses", [create(), chooseNodes], joinPool],
  ["service-is-deleted", [create()], remove],
  ["service-with-three-ports-is-deleted", [ALL], remove, OF_CI],
  ["service-on-address-of-user-is-deleted", [create(at(USED_IP))], remove],
  ["service-that-named-free-address-is-deleted", [create(at(FREE_IP))], remove, OF_CI],
  ["service-that-keeps-its-address-is-deleted", [KEEPING], remove, KEPT],
  ["service-that-keeps-its-address-moves", [KEEPING], change(at(PINNED_IP)), { ...KEPT, ...OF_CI }],
  ["service-on-kept-address-is-deleted", [KEEPING, remove, create(at(FREE_IP))], remove, KEPT],
  [
    "service-that-got-no-address-is-deleted-with-all-nodes",
    [createWithoutAddress],
    removeWithNodes,
  ],
  [
    "service-in-vpc-that-got-no-address-is-deleted-with-all-nodes",
    [createWithoutAddress],
    removeWithNodes,
    { ...TIER, ...OF_CI },
  ],
  ["service-becomes-one-of-type-clusterip", [create()], change({ spec: { type: "ClusterIP" } })],
  [
    "service-of-apache-provider-is-taken-over",
    [],
    createWithLeftover({ ports: [HTTP, HTTPS] }, PINNED_IP),
  ],
  [
    "service-of-apache-provider-on-source-nat-gets-another-node-port",
    [createWithLeftover({}, SOURCE_NAT_IP)],
    change({ ports: [{ ...HTTP, nodePort: 30_081 }] }),
  ],
  ["service-of-leaseweb-provider-is-taken-over", [], createOfLeaseweb, NAMED],
  ["service-of-leaseweb-provider-is-deleted", [createOfLeaseweb], remove, FREED],
  ["service-in-vpc-is-created", [], create(), TIER],
  [
    "service-in-vpc-gets-port-and-other-clients",
    [create(from("10.0.0.0/8"))],
    change({ ports: [HTTP, HTTPS], ...from("192.168.0.0/16") }),
    TIER,
  ],
  ["service-in-vpc-loses-port", [BOTH], change({ ports: [HTTPS] }), { ...TIER, ...OF_CI }],
  [
    "service-in-vpc-moves-to-address-of-user",
    [create()],
    change(at(PINNED_IP)),
    { ...TIER, ...OF_CI },
  ],
  ["service-in-vpc-is-deleted", [create()], remove, TIER],
  [
    "service-in-network-without-firewall-is-created",
    [],
    create(from("10.0.0.0/8", "172.16.0.0/12")),
    OPEN,
  ],
  [
    "clients-of-service-in-network-without-firewall-change",
    [create(from("10.0.0.0/8"))],
    change(from("192.168.0.0/16")),
    OPEN,
  ],
  ["service-in-network-without-firewall-is-deleted", [create()], remove, { ...OPEN, ...OF_CI }],
];

/** Every story. */
export const STORIES: readonly ServiceStory[] = ROWS.map(([name, before, act, more]) => ({
  name,
  before,
  act,
  ...more,
}));

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = STORIES.flatMap((story, at) => [
  toTelling(
    { ...story, name: `services/${story.name}` },
    { jobMs: SHORT_JOB_MS, share: story.isDense ? 1 : SHARE, number: at },
  ),
  toTelling(
    { ...story, name: `services/${story.name}/long-jobs`, isOfCi: true },
    { jobMs: LONG_JOB_MS, share: SHARE, number: at },
  ),
]);
