/**
 * Looks at what the role and the networks of the Nodes offer for load balancers, for `landfall check`.
 * @module
 */
import * as v from "valibot";
import type {
  FindHolder,
  KeptAddress,
  LoadBalancerInspection,
  LoadBalancerLeftover,
} from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding, FindingLevel } from "../../../cloud/inspection.ts";
import type { Clock } from "../../../core/clock.ts";
import { quote } from "../../../core/text/printable.ts";
import { ApiError } from "../session/errors.ts";
import type { Version } from "../session/facts.ts";
import type { CloudStackSession } from "../session/session.ts";
import type { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { ADDRESSES, NETWORKS, RULES } from "../wire/objects.ts";
import { chooseNetwork } from "./backends.ts";
import { LB_COMMANDS, type NeededCommand, ROLE_COMMAND } from "./commands.ts";
import { describeOwner, explainSharing, explainUse, listUnshared } from "./current.ts";
import type { ObserverSource } from "./observer.ts";
import type { Acting } from "./acting.ts";
import { isNamedBy } from "./ownership.ts";
import { parseRecord, RecordSigner, SIGNING_PURPOSE } from "./record.ts";
import { listKept, listLeftovers } from "./release.ts";
import { readAllocatedBy } from "./allocated_by.ts";
import { toMap } from "./observe.ts";
import { type Network, type Observation, type PublicAddress, isSince } from "./observation.ts";
import { isTagged, TAG_KEYS } from "./words.ts";

/** What {@linkcode inspectLoadBalancing} looks with. */
interface InspectionOptions extends LoadBalancerInspection {
  readonly session: Pick<CloudStackSession, "deriveKey" | "isOwnKey" | "list" | "read">;
  readonly api: Pick<LoadBalancingApi, "listAll">;
  readonly source: Pick<ObserverSource, "facts" | "readBackends">;
  readonly clock: Clock;
}

const ADVICE = "allow them in the role; docs/guides/permissions-cloudstack.md has the whole list";

/**
 * Says which commands the role lacks, what the networks of the Nodes offer, and which addresses have no Service.
 *
 * @throws {CloudError} when CloudStack cannot answer
 */
export async function inspectLoadBalancing(
  options: InspectionOptions,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  // Without a Service, what is missing may never be needed.
  const missing: FindingLevel = options.claims.length > 0 ? "failure" : "warning";
  const found = await Promise.all([
    inspectRole(options.session, missing, signal),
    inspectNetworks(options, missing, signal),
    inspectAddresses(options, signal),
  ]);
  return found.flat();
}

async function inspectRole(
  session: InspectionOptions["session"],
  missing: FindingLevel,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const code = "loadBalancerRole";
  const allowed = await readAllowed(session, signal);
  if (allowed === undefined) {
    const unknown = "it is not known whether it allows the commands for load balancers";
    const message = `the role has no ${ROLE_COMMAND}, so ${unknown}`;
    return [{ level: "warning", code, message, advice: `allow ${ROLE_COMMAND} in the role` }];
  }
  const lacking = LB_COMMANDS.filter(({ name }) => !allowed.has(name));
  if (lacking.length === 0) {
    const message = `the role allows all ${LB_COMMANDS.length} commands for load balancers`;
    return [{ level: "ok", code, message }];
  }
  const toFinding = (
    level: FindingLevel,
    what: string,
    some: readonly NeededCommand[],
  ): Finding[] => {
    if (some.length === 0) return [];
    const names = some.map(({ name }) => name).join(", ");
    return [{ level, code, message: `the role lacks ${what}: ${names}`, advice: ADVICE }];
  };
  const [needed, useful] = [true, false].map((one) =>
    lacking.filter(({ isMandatory }) => isMandatory === one),
  );
  return [
    ...toFinding(missing, "commands without which no load balancer works", needed ?? []),
    ...toFinding("warning", "commands that some load balancers need", useful ?? []),
  ];
}

/** The commands that the role allows; `undefined` if it does not say. @throws {CloudError} of any other kind */
async function readAllowed(
  session: InspectionOptions["session"],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const schema = v.optional(v.array(v.object({ name: v.string() })), []);
  try {
    const apis = await session.read({ command: ROLE_COMMAND, key: "api", schema }, signal);
    return new Set(apis.map(({ name }) => name));
  } catch (error) {
    if (error instanceof ApiError && error.explanation.word === "forbidden") return undefined;
    throw error;
  }
}

async function inspectNetworks(
  { api, source, backends }: InspectionOptions,
  missing: FindingLevel,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const code = "loadBalancerNetwork";
  try {
    const { vms } = await source.readBackends(-Infinity, signal);
    const ids = new Set(
      backends.flatMap(({ instanceId = "" }) =>
        (vms.get(instanceId)?.nics ?? []).map(({ networkId }) => networkId),
      ),
    );
    const version = await source.facts.readVersion(signal);
    const list = (projectId: string | undefined) => api.listAll(NETWORKS, projectId, signal);
    const { objects } = await source.facts.inProject(list, signal);
    const chosenId = chooseNetwork({ vms }, backends);
    const chosen = objects.find(({ id }) => id === chosenId);
    return objects
      .filter(({ id }) => ids.has(id))
      .map((one) => toNetworkFinding(one, { version, missing, chosen: chosen ?? one }));
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return [{ level: missing, code, message: error.message }];
  }
}

/** Names the addresses without a Service, those that are kept, and those that lack their tags. */
async function inspectAddresses(
  options: InspectionOptions,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { api, source, claims, readCluster, listSharingRules } = options;
  if (readCluster === undefined) return [];
  try {
    return await source.facts.inProject(async (projectId) => {
      const addresses = await api.listAll(ADDRESSES, projectId, signal);
      const asking = { ...options, projectId };
      const untagged = await inspectUntagged(addresses.objects, asking, signal);
      if (!addresses.objects.some(({ tags }) => isTagged(tags))) return untagged;
      const rules = await api.listAll(RULES, projectId, signal);
      // After the addresses: that of a Service which was made meanwhile must not look left over.
      const cluster = await readCluster(signal);
      if (cluster === undefined) return [toUnknown("Kubernetes does not show all Services")];
      const cloud = {
        addresses: toMap(addresses),
        rules: toMap(rules),
        clusterIds: cluster.ids,
      };
      const findHolder: FindHolder = (isIt) => {
        const claim = claims.find(({ owner }) => isIt(owner.uid));
        return claim && { claim, isLeaving: false };
      };
      // What a Service says that Landfall does not serve is not known here.
      const isKnown = ({ tags }: PublicAddress): boolean => {
        const uid = tags.get(TAG_KEYS.serviceUid) ?? "";
        return !cluster.services.uids.has(uid) || findHolder((one) => one === uid) !== undefined;
      };
      const shared = {
        ...cloud,
        claims: () => claims,
        findHolder,
        ...(listSharingRules && { listSharingRules }),
      };
      return [
        ...untagged,
        ...toUnsharedFindings(shared, addresses.objects.filter(isKnown)),
        ...toLeftoverFindings(listLeftovers(cloud, cluster.services)),
        ...toKeptFindings(listKept(cloud)),
      ];
    }, signal);
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return [toUnknown(error.message)];
  }
}

/** The addresses of this cluster that are kept. @throws {CloudError} when CloudStack cannot answer */
export async function readKept(
  {
    api,
    source,
    clusterIds,
  }: Pick<InspectionOptions, "api" | "source"> & Pick<Observation, "clusterIds">,
  signal: AbortSignal,
): Promise<readonly KeptAddress[]> {
  return await source.facts.inProject(async (projectId) => {
    const addresses = await api.listAll(ADDRESSES, projectId, signal);
    const rules = await api.listAll(RULES, projectId, signal);
    return listKept({ addresses: toMap(addresses), rules: toMap(rules), clusterIds });
  }, signal);
}

/** More findings of one kind than these are counted, and not shown. */
const SHOWN_MAX = 20;

/** @param describeMore How many are not shown, in words */
function limit(
  findings: readonly Finding[],
  describeMore: (count: number) => string,
): readonly Finding[] {
  const [first] = findings;
  if (first === undefined || findings.length <= SHOWN_MAX) return findings;
  const message = describeMore(findings.length - SHOWN_MAX);
  return [...findings.slice(0, SHOWN_MAX), { level: first.level, code: first.code, message }];
}

/** Names the Services on addresses that they would not get any more. */
function toUnsharedFindings(
  cloud: Parameters<typeof listUnshared>[0],
  addresses: readonly PublicAddress[],
): readonly Finding[] {
  const code = "loadBalancerNotShared";
  const messages = addresses.flatMap((address) =>
    [explainUse, explainSharing]
      .flatMap((explain) => listUnshared(cloud, address, explain))
      .map(({ claim, why }) => `${describeOwner(claim.owner)}: ${why}`),
  );
  const found = [...new Set(messages)].map((message): Finding => {
    return { level: "warning", code, message };
  });
  return limit(
    found,
    (more) => `${more} more Services are on addresses that are not shared with them`,
  );
}

/** How long CloudStack keeps events, unless it is set otherwise. */
const EVENTS_MS = 15 * 86_400_000;

/**
 * Names the addresses without tags that the record of a Service names, and those that our user took and nothing uses.
 *
 * @throws {CloudError} when CloudStack cannot answer
 */
async function inspectUntagged(
  addresses: readonly PublicAddress[],
  options: InspectionOptions & Pick<Acting, "projectId">,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { session, claims } = options;
  const signer = new RecordSigner(await session.deriveKey(SIGNING_PURPOSE));
  const untagged = addresses.filter(({ tags }) => tags.size === 0);
  const named = claims.flatMap(({ record, owner }) => {
    const asked = parseRecord(record, owner.uid, signer)?.address;
    const why = `Landfall was taking it for ${describeOwner(owner)}, whose record names it`;
    return untagged.filter((one) => asked && isNamedBy(asked, one)).map((one) => ({ one, why }));
  });
  const rest = untagged.filter((address) => named.every(({ one }) => one !== address));
  const taken = await listTaken(rest, options, signal);
  const why = "nothing uses it, and the API user of Landfall took it";
  return [...named, ...taken.map((one) => ({ one, why }))].map(toUntagged);
}

async function listTaken(
  addresses: readonly PublicAddress[],
  { session, api, clock, projectId }: InspectionOptions & Pick<Acting, "projectId">,
  signal: AbortSignal,
): Promise<readonly PublicAddress[]> {
  const idle = addresses.filter(
    ({ isSourceNat, isStaticNat, hasRules }) => !isSourceNat && !isStaticNat && hasRules !== true,
  );
  if (idle.length === 0) return [];
  const asked = new Map(idle.map(({ id }) => [id, clock.now() - EVENTS_MS]));
  const allocatedBy = await readAllocatedBy({ session, projectId, asked }, signal);
  const own = idle.filter(({ id }) => allocatedBy?.get(id) === "us");
  if (own.length === 0) return [];
  const { objects: rules } = await api.listAll(RULES, projectId, signal);
  return own.filter(({ id }) => rules.every(({ addressId }) => addressId !== id));
}

function toUntagged({ one, why }: { readonly one: PublicAddress; readonly why: string }): Finding {
  const { ip, id } = one;
  const message = `public IP ${ip} (${id}) carries no tag: ${why}`;
  const advice = `if nothing needs it, release it: cmk disassociate ipaddress id=${id}`;
  return { level: "warning", code: "loadBalancerUntagged", message, advice };
}

/** What `landfall check` says about addresses without a Service. */
export function toLeftoverFindings(leftovers: readonly LoadBalancerLeftover[]): readonly Finding[] {
  const code = "loadBalancerLeftover";
  const found = leftovers.map((leftover): Finding => {
    const { ip, id, service, serviceUid, rules } = leftover;
    const who = service === undefined ? "a Service" : `Service ${quote(service)}`;
    const on = rules === 1 ? "1 load-balancer rule is" : `${rules} load-balancer rules are`;
    const tags = `its tags name this cluster and ${who} with UID ${quote(serviceUid)}`;
    const message = `public IP ${ip} (${id}) has no Service: ${tags}, which does not exist; ${on} on it`;
    const advice =
      "if nothing needs it, also no copy of this cluster, release it with its rules: " +
      `cmk disassociate ipaddress id=${id}; or name it in spec.loadBalancerIP of a Service of that namespace, ` +
      "which inherits it";
    return { level: "warning", code, message, advice };
  });
  return limit(found, (more) => `${more} more public IPs of this cluster have no Service`);
}

/** More kept addresses than these are counted, and not named. */
const KEPT_MAX = 10;

function toKeptFindings(kept: readonly KeptAddress[]): Finding[] {
  if (kept.length === 0) return [];
  const named = kept.slice(0, KEPT_MAX).map(({ ip, namespace }) => `${ip} (${quote(namespace)})`);
  const more = kept.length > KEPT_MAX ? ", …" : "";
  const which = `${kept.length} public ${kept.length === 1 ? "IP is" : "IPs are"} kept for Services`;
  const message = `${which} of a namespace: ${named.join(", ")}${more}; landfall services --kept lists them`;
  return [{ level: "ok", code: "loadBalancerKept", message }];
}

function toUnknown(why: string): Finding {
  const message = `it is not known whether public IPs of this cluster have no Service: ${why}`;
  return { level: "warning", code: "loadBalancerLeftover", message };
}

/** What {@linkcode toNetworkFinding} needs to know besides the network. */
interface NetworkFacts {
  readonly version: Version | undefined;
  /** The level of what keeps a Service waiting. */
  readonly missing: FindingLevel;
  /** The network of new load balancers. */
  readonly chosen: Pick<Network, "id" | "name">;
}

/** What a network offers. Pure. */
export function toNetworkFinding(
  network: Network,
  { version, missing, chosen }: NetworkFacts,
): Finding {
  const { name, id, hasLoadBalancers, hasFirewall, hasNetworkAcl, aclListName } = network;
  const code = "loadBalancerNetwork";
  const where = `network ${quote(name)} (${id})`;
  const isChosen = id === chosen.id;
  if (!hasLoadBalancers && !isChosen) {
    const place = `new load balancers are in network ${quote(chosen.name)}`;
    return { level: "ok", code, message: `${where} offers no load balancing: ${place}` };
  }
  if (!hasLoadBalancers) {
    const message = `${where} of the Nodes offers no load balancing: a Service waits there`;
    const advice =
      "use a network offering with the service Lb, or leave out the controller service";
    return { level: missing, code, message, advice };
  }
  const offers = [
    `load balancing (${[...(network.algorithms ?? ["algorithms unknown"])].join(", ")})`,
    ...(hasFirewall ? ["firewall"] : []),
    ...(hasNetworkAcl ? [`network ACL ${aclListName ?? ""}`.trim()] : []),
    ...(network.stickiness ?? []).map((method) => `stickiness ${method.name}`),
  ];
  const message = `${where} offers ${offers.join(", ")}`;
  if (!hasFirewall && hasNetworkAcl && aclListName === "default_deny") {
    const advice = "give the tier an ACL list of its own: default_deny lets no client in";
    return { level: isChosen ? missing : "warning", code, message, advice };
  }
  if (!hasFirewall && !hasNetworkAcl && !isSince(version, 4, 18)) {
    const what = "this version of CloudStack cannot restrict the clients of a Service there";
    const advice = "Services with source ranges wait; upgrade to CloudStack 4.18";
    return { level: "warning", code, message: `${message}; ${what}`, advice };
  }
  return { level: "ok", code, message };
}
