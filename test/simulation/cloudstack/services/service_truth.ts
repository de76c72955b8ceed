/**
 * What must be true of load balancers once nothing goes wrong any more, worked out from Services, Nodes and the records
 * of CloudStack alone: an oracle that shares no code with what it judges.
 * @module
 */
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import type { LoadBalancerRule } from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";
import { summarizeCloud } from "../../../../lib/simulator/cloudstack/world/summary.ts";
import type { CloudStackTruth } from "../truth.ts";
import type { Book } from "./book.ts";
import type { Knowledge, Life } from "./knowledge.ts";
import { listClients } from "./router.ts";
import { listRules, readOwner } from "./service_judge.ts";
import {
  FINALIZER,
  isChosen,
  isWanted,
  KEEP,
  KEPT,
  readAnnotation,
  sharesWith,
  toClients,
  toPorts,
  type WantedPort,
} from "./wishes.ts";
import type { Surroundings } from "../../world/cloud.ts";

const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
const LEAVING = "ToBeDeletedByClusterAutoscaler";

/** What people have, what processes know, and what the cloud has. */
interface Balanced {
  readonly cloud: { readonly state: CloudStackState; readonly truth: CloudStackTruth };
  readonly book: Book;
  readonly knowledge: Knowledge;
  /** Addresses whose only proof people destroyed, by ID. */
  readonly abandoned: ReadonlySet<string>;
}

/** Says what is not as it should be; nothing when all is. */
export function listUnsettled(world: Surroundings, balancing: Balanced): string[] {
  const { knowledge, cloud } = balancing;
  const services = new Map(world.server.services.map((one) => [one.metadata.uid ?? "", one]));
  return [
    ...knowledge.lives.flatMap((life) => {
      const service = services.get(life.uid);
      const wrongs =
        service !== undefined && isWanted(service)
          ? listWrongs({ world, balancing, life, service })
          : listRemains(balancing, life, service);
      return wrongs.map((wrong) => `Service ${life.name} ${life.uid} ${wrong}`);
    }),
    ...listLost(balancing, services),
    ...summarizeCloud(cloud.state).orphans,
  ];
}

interface Case {
  readonly world: Surroundings;
  readonly balancing: Balanced;
  readonly life: Life;
  readonly service: Service;
}

function listWrongs(one: Case): string[] {
  const { balancing, life, service } = one;
  const { state } = balancing.cloud;
  const rules = listRules(state.loadBalancerRules.values(), life);
  const [ipId, ...others] = new Set(rules.map((rule) => rule.ipId));
  if (isRefused(one, ipId)) return [];
  // Nothing says in which network it should be.
  const isWaiting = !hasTold(one);
  const place = ipId ?? findNamed(one);
  if (place !== undefined && (isInTheWay(one, place) || isTaken(one, place))) return [];
  if (ipId === undefined) return isWaiting ? [] : ["has no rule"];
  if (others.length > 0) return ["has rules on two addresses"];
  // What people, or Services that it was shared with, use as well stays.
  const owned = listOwned(balancing, life).filter(
    (one) =>
      one === ipId ||
      !(
        balancing.book.isUsed(one) ||
        isKept(balancing, life, one) ||
        isShared(balancing, life, one)
      ),
  );
  const wrongs: string[] = [];
  if (owned.length > 1) wrongs.push("has two addresses");
  const isTheirs = balancing.book.has(ipId);
  const owner = readOwner(state, ipId);
  const { loadBalancerIP } = service.spec ?? {};
  const address = state.publicIps.get(ipId)?.address ?? "";
  // A Service may name the address of another one, and stays there when it names none any more.
  const wasNamed = life.versions.some(({ spec }) => spec?.loadBalancerIP === address);
  const isNamed = owner !== undefined && (loadBalancerIP !== undefined || wasNamed);
  if (!isTheirs && !isNamed && owner !== life.uid) wrongs.push("has an address without tags");
  if (isTheirs && owned.length > 0) wrongs.push("keeps an address beside that of the user");
  if (loadBalancerIP !== undefined && loadBalancerIP !== address)
    wrongs.push("has another address");
  if (!service.metadata.finalizers?.includes(FINALIZER)) wrongs.push("has no finalizer");
  const ports = toPorts(service);
  const shown = JSON.stringify(service.status?.loadBalancer?.ingress ?? []);
  const ingress = JSON.stringify(toIngress(service, address, ports));
  // Stickiness that fits no port is a wish that cannot be fulfilled.
  const isPossible = ports.some((port) => readMethod(service, port) !== undefined);
  const isStuck = readAnnotation(service, "stickiness-method-name") !== undefined && !isPossible;
  if (shown !== ingress && !isStuck) wrongs.push(`shows ${shown} instead of ${ingress}`);
  // The Apache provider releases an address that a Service names only if this says that it was taken for it.
  const isNoted = readAnnotation(service, "ip-associated-by-controller") === "true";
  const mustSay = owner === life.uid && service.metadata.annotations?.[KEEP] === undefined;
  const isWrong = mustSay ? !isNoted : isTheirs && isNoted;
  if (loadBalancerIP !== undefined && isWrong && !isStuck)
    wrongs.push(`says ${isNoted} to the Apache provider`);
  const wanted = new Map(ports.map((port) => [port.port, port]));
  for (const rule of rules) {
    const port = wanted.get(rule.publicPort);
    wanted.delete(rule.publicPort);
    if (port === undefined) wrongs.push(`has a rule for port ${rule.publicPort}`);
    else wrongs.push(...listRuleWrongs(one, rule, port));
  }
  for (const port of wanted.keys()) wrongs.push(`has no rule for port ${port}`);
  return [...wrongs, ...listStrayFilters(balancing, life, ports)];
}

/**
 * Whether another Service has a port of a Service. One that names a free address may find that another was given it
 * meanwhile; one that shares an address, its own or not, may find a port in use there.
 */
function isTaken({ balancing, life, service }: Case, ipId: string): boolean {
  const { state } = balancing.cloud;
  const isNamed = service.spec?.loadBalancerIP !== undefined;
  const isGuest = readOwner(state, ipId) !== life.uid;
  if (!isNamed && !isGuest && !isShared(balancing, life, ipId)) return false;
  const others = [...state.loadBalancerRules.values()].filter(
    ({ name }) => !name.startsWith(`${life.lbName}-`),
  );
  return toPorts(service).some(({ port }) =>
    others.some((rule) => rule.ipId === ipId && rule.publicPort === port),
  );
}

/**
 * Whether a Service names, or is on, the address of one of another namespace that does not share it. The word of one
 * that is gone counts only for those that were there before.
 */
function isRefused(one: Case, ipId: string | undefined): boolean {
  const { balancing, life, world } = one;
  const { cloud, knowledge } = balancing;
  const isThere = ({ uid }: Life): boolean =>
    world.server.services.some(({ metadata }) => metadata.uid === uid);
  return [ipId, findNamed(one)].some((id) => {
    const host = knowledge.find(readOwner(cloud.state, id ?? "") ?? "");
    if (host === undefined) return false;
    const isLate = ipId === undefined && host.namespace !== life.namespace && !isThere(host);
    return isLate || !mayShare(host, life);
  });
}

/** The ID of the address that a Service names. */
function findNamed({ balancing, service }: Case): string | undefined {
  const ips = [...balancing.cloud.state.publicIps.values()];
  return ips.find(({ address }) => address === service.spec?.loadBalancerIP)?.id;
}

/** Whether a Service lets another one share its address, or did when it went. */
function mayShare({ versions }: Life, { namespace }: Life): boolean {
  const last = versions.at(-1);
  return last !== undefined && sharesWith(last, namespace);
}

/**
 * Whether people let clients in to a port of a Service in a way that CloudStack takes no other rule beside it. On an
 * address of theirs, so does what a rule that they deleted left; on one whose tags they deleted, too, so does what a
 * rule of any Service left.
 */
function isInTheWay({ balancing, life, service }: Case, ipId: string): boolean {
  const { cloud, book, knowledge } = balancing;
  const isNobodys = readOwner(cloud.state, ipId) === undefined;
  const isLeft =
    (life.mayStray && book.has(ipId)) ||
    (isNobodys && knowledge.lives.some(({ mayStray }) => mayStray));
  return [...cloud.state.firewallRules.values()].some(
    ({ id, startPort = 0, endPort = 0, ...rule }) =>
      rule.ipId === ipId &&
      (isLeft || book.has(id)) &&
      toPorts(service).some(({ port }) => startPort <= port && port <= endPort),
  );
}

function listRuleWrongs(one: Case, rule: LoadBalancerRule, port: WantedPort): string[] {
  const { balancing, life, service } = one;
  const { state } = balancing.cloud;
  const members = listMembers(one, rule.networkId).toSorted();
  const algorithm = service.spec?.sessionAffinity === "ClientIP" ? "source" : "roundrobin";
  // The server itself takes a destroyed machine out in the end, and until then shows it to nobody who asks for members.
  const shown = rule.members.filter(({ vmId }) => state.vms.get(vmId)?.state !== "Destroyed");
  const clients = rule.members.length === 0 ? [] : toClients(service);
  const { applied } = rule;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["name", rule.name, `${life.lbName}-${port.protocol}-${port.port}`],
    ["description", rule.description, `Managed by Landfall for ${life.namespace}/${life.name}`],
    ["protocol", rule.protocol, port.protocol],
    ["private port", rule.privatePort, port.nodePort],
    ["algorithm", rule.algorithm, algorithm],
    [
      "members",
      shown
        .map(({ vmId }) => vmId)
        .toSorted()
        .join(),
      members.join(),
    ],
    ["clients", listClients(state, rule).join(), clients.join()],
    ["stickiness", readStickiness(balancing, rule), readMethod(service, port)],
    ...(applied === undefined || rule.members.length === 0
      ? []
      : ([
          ["applied protocol", applied.protocol, port.protocol],
          ["applied port", applied.privatePort, port.nodePort],
          ["applied algorithm", applied.algorithm, algorithm],
          ["applied list", applied.cidrList, rule.cidrList],
          ["backends", applied.backends.length, rule.members.length],
          ["applied stickiness", applied.stickiness?.split(" ")[0], readMethod(service, port)],
        ] as const)),
  ];
  return pairs
    .filter(([, actual, wanted]) => actual !== wanted)
    .map(([what, actual, wanted]) => `has ${what} ${actual} instead of ${wanted} at ${port.port}`);
}

/** The method of stickiness that a port is to have. */
function readMethod(service: Service, { packets }: WantedPort): string | undefined {
  return packets === "udp" ? undefined : readAnnotation(service, "stickiness-method-name");
}

function readStickiness({ cloud }: Balanced, { id }: LoadBalancerRule) {
  return [...cloud.state.stickinessPolicies.values()].find(({ ruleId }) => ruleId === id)
    ?.methodName;
}

function toIngress(service: Service, ip: string, ports: readonly WantedPort[]): readonly object[] {
  const hostname = readAnnotation(service, "hostname");
  if (hostname !== undefined) return [{ hostname }];
  const isProxy = ports.some(({ protocol }) => protocol === "tcp-proxy");
  return [{ ip, ipMode: isProxy ? "Proxy" : "VIP" }];
}

/** Machines of Nodes that may get traffic, in a network. */
function listMembers({ world, balancing, service }: Case, networkId: string): string[] {
  const { truth } = balancing.cloud;
  const ids = world.server.nodes
    .filter((node) => isBackend(world, node) && isChosen(service, node))
    .map(({ metadata }) => world.machines.get(metadata.name) ?? "");
  return [...new Set(ids)].filter((id) => {
    const vm = truth.find(id);
    if (vm === undefined || vm.state === "Destroyed") return false;
    const nics = vm.nics.filter((nic) => nic.networkId === networkId);
    return nics.length > 0;
  });
}

/** Whether the InternalIP of a Node says in which network the load balancer should be. */
function hasTold({ world, balancing, service }: Case): boolean {
  const nodes = world.server.nodes.filter((node) => isChosen(service, node));
  return nodes.some((node) => {
    const vm = balancing.cloud.truth.find(world.machines.get(node.metadata.name) ?? "");
    if (vm === undefined || vm.state === "Destroyed" || !isBackend(world, node)) return false;
    const ips = new Set((node.status?.addresses ?? []).map(({ address }) => address));
    return vm.nics.some(({ ipAddress = "" }) => ips.has(ipAddress));
  });
}

function isBackend(world: Surroundings, { metadata, spec }: Node): boolean {
  const label = metadata.labels?.[EXCLUDED];
  const isExcluded = label !== undefined && label !== "false";
  const isLeaving = spec?.taints?.some(({ key }) => key === LEAVING) ?? false;
  return !isExcluded && !isLeaving && !world.isForeign(metadata.name);
}

/** What is left of a Service that needs nothing any more. */
function listRemains(balancing: Balanced, life: Life, service: Service | undefined): string[] {
  const { state } = balancing.cloud;
  const rules = listRules(state.loadBalancerRules.values(), life);
  const owned = listOwned(balancing, life).filter(
    (ipId) =>
      !balancing.book.isUsed(ipId) &&
      !isShared(balancing, life, ipId) &&
      !isKept(balancing, life, ipId),
  );
  const isHeld = service?.metadata.finalizers?.includes(FINALIZER) ?? false;
  const left = life.mayLeak
    ? []
    : [
        ...rules.map(({ name }) => `leaves rule ${name}`),
        ...owned.map((ipId) => `leaves address ${state.publicIps.get(ipId)?.address}`),
        ...listStrayFilters(balancing, life, []),
      ];
  const ingress = service?.status?.loadBalancer?.ingress ?? [];
  return [
    ...left,
    ...(isHeld ? ["keeps its finalizer"] : []),
    ...(ingress.length > 0 ? [`still shows ${JSON.stringify(ingress)}`] : []),
  ];
}

/** Whether an address is kept because its Service asked for it at some time. */
function isKept({ cloud }: Balanced, { versions }: Life, ipId: string): boolean {
  const namespace = cloud.state.tags.of(ipId).find(({ key }) => key === KEPT)?.value;
  return versions.some(
    ({ metadata }) => metadata.namespace === namespace && metadata.annotations?.[KEEP] === "true",
  );
}

/** Whether another Service is on the address of a Service that shares it. No other one may keep it from its end. */
function isShared(balancing: Balanced, life: Life, ipId: string): boolean {
  return listOthers(balancing, life, ipId).some((one) => mayShare(life, one));
}

/** The other Services that are on the address of a Service. */
function listOthers({ cloud, knowledge }: Balanced, life: Life, ipId: string): Life[] {
  const rules = [...cloud.state.loadBalancerRules.values()];
  return knowledge.lives.filter(
    (one) => one !== life && listRules(rules, one).some((rule) => rule.ipId === ipId),
  );
}

/** Addresses with the tags of a Service. */
function listOwned({ cloud: { state } }: Balanced, { uid }: Life): string[] {
  return [...state.publicIps.values()]
    .filter(({ id, accountId }) => accountId !== undefined && readOwner(state, id) === uid)
    .map(({ id }) => id);
}

/** Firewall rules on its addresses and ACL items that let nobody in to a port of the Service. */
function listStrayFilters(balancing: Balanced, life: Life, ports: readonly WantedPort[]): string[] {
  const { cloud, book } = balancing;
  const { firewallRules, aclItems } = cloud.state;
  const own = listOwned(balancing, life).filter(
    (ipId) => listOthers(balancing, life, ipId).length === 0,
  );
  const addresses = new Set(own);
  const isOfPort = ({
    protocol,
    startPort,
    endPort,
  }: {
    readonly protocol: string;
    readonly startPort?: number | undefined;
    readonly endPort?: number | undefined;
  }): boolean =>
    startPort === endPort &&
    ports.some(({ packets, port }) => packets === protocol && port === startPort);
  const stray = [...firewallRules.values()].filter(
    (one) => addresses.has(one.ipId) && !book.has(one.id) && !isOfPort(one) && !life.mayStray,
  );
  const items = [...aclItems.values()].filter(
    (one) => one.reason?.endsWith(` for ${life.lbName}`) && !book.has(one.id) && !isOfPort(one),
  );
  return [
    ...stray.map(({ startPort, protocol }) => `has a firewall rule for ${protocol} ${startPort}`),
    ...items.map(({ startPort, protocol }) => `has an ACL item for ${protocol} ${startPort}`),
  ];
}

/** Addresses that nobody knows any more. */
function listLost(
  { cloud: { state }, book, knowledge, abandoned }: Balanced,
  services: ReadonlyMap<string, Service>,
): string[] {
  return [...state.publicIps.values()].flatMap(({ id, address, accountId }) => {
    if (accountId === undefined || book.has(id) || book.isUsed(id)) return [];
    const uid = readOwner(state, id);
    if (uid === undefined) return abandoned.has(id) ? [] : [`address ${address} is nobody's`];
    const isKnown = services.has(uid) || knowledge.find(uid) !== undefined;
    return isKnown ? [] : [`address ${address} is of a Service that never was`];
  });
}
