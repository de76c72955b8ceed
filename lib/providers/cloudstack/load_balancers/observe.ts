/**
 * Reads everything that load balancers are made of, for all Services together, with as few requests as possible.
 * @module
 */
import type { LoadBalancerClaim } from "../../../cloud/capabilities/load_balancers.ts";
import type { Limiter } from "../../../core/concurrency.ts";
import type { Version } from "../session/facts.ts";
import type { LoadBalancingApi, WholeList } from "../wire/load_balancing_api.ts";
import { ACL_ITEMS, ADDRESSES, FIREWALL_RULES, NETWORKS, RULES } from "../wire/objects.ts";
import { type AskedAddress, parseRecord, type RecordSigner } from "./record.ts";
import { adoptNames } from "./leaseweb.ts";
import { ANNOTATIONS, isAclReason, parseLbName } from "./words.ts";
import type { Found } from "./store.ts";
import type {
  AclItem,
  BackendVm,
  Network,
  PublicAddress,
  Rule,
  StickinessPolicy,
  Unreadable,
  Observation,
} from "./observation.ts";
import { ApiError } from "../session/errors.ts";
import type { AllocatedBy } from "./allocated_by.ts";

/** What an observation needs. */
interface ObserveOptions {
  readonly api: LoadBalancingApi;
  readonly projectId: string | undefined;
  readonly readVersion: () => Promise<Version | undefined>;
  /** Every Service, by the name of its load balancer. */
  readonly claims: ReadonlyMap<string, LoadBalancerClaim>;
  readonly recordSigner: RecordSigner;
  readonly vms: ReadonlyMap<string, BackendVm>;
  /** Whether `vms` are all that this user may see. */
  readonly isEveryVm: boolean;
  /** IDs of the VMs of Nodes, and of the networks that they are in. */
  readonly nodeVmIds: ReadonlySet<string>;
  readonly nodeNetworkIds: ReadonlySet<string>;
  /** What the observation before showed. */
  readonly known: Partial<Pick<Observation, "aclItems" | "policies" | keyof Networks>>;
  /** Asks whose API user took addresses, see `readAllocatedBy`. */
  readonly readAllocatedBy: (
    asked: ReadonlyMap<string, number>,
  ) => Promise<ReadonlyMap<string, AllocatedBy> | undefined>;
  /** When the observation began, in monotonic milliseconds. */
  readonly takenAtMs: number;
  /** The same by the wall clock, in milliseconds since 1970. */
  readonly takenAtWallMs: number;
  /** Bounds how many questions about single rules, VMs and lists are asked at once. */
  readonly limiter: Limiter;
}

/** Lists of ACLs that every account has, and that no account can change. */
const FIXED_LISTS: ReadonlySet<string> = new Set(["default_allow", "default_deny"]);
/**
 * Observes once. One list each of rules, addresses and firewall rules, one list for each list of ACLs, and what
 * {@linkcode readMembers} and {@linkcode readPolicies} need.
 *
 * @throws {CloudError} when CloudStack does not answer one of the questions, or not in full
 */
export async function observe(
  options: ObserveOptions,
  signal: AbortSignal,
): Promise<Omit<Found, "isOurCloud">> {
  const { api, projectId, claims, takenAtMs, takenAtWallMs } = options;
  const [listed, addresses, firewallRules, version] = await Promise.all([
    api.listAll(RULES, projectId, signal),
    api.listAll(ADDRESSES, projectId, signal),
    api.listAll(FIREWALL_RULES, projectId, signal),
    options.readVersion(),
  ]);
  const ruleCount = listed.objects.length;
  const read = (some: readonly Rule[]): Promise<Observation["members"]> =>
    readMembers(options, { rules: some, ruleCount }, signal);
  const rules = {
    ...listed,
    objects: await adoptNames(listed.objects, { ...options, readMembers: read }),
  };
  const ours = rules.objects.filter((rule) => findClaim(claims, rule) !== undefined);
  const desired = new Set([...options.nodeNetworkIds, ...ours.map(({ networkId }) => networkId)]);
  const networks = await readNetworks(options, desired, signal);
  const asked = listAsked(claims.values(), toMap(addresses), options.recordSigner);
  const listIds = toListIds(desired, networks.networks).union(findLeftLists(options));
  const sticky = ours.filter(
    ({ networkId }) => networks.networks.get(networkId)?.stickiness !== undefined,
  );
  const [allocatedBy, members, policies, aclItems] = await Promise.all([
    asked.size === 0 ? undefined : options.readAllocatedBy(asked),
    read(ours),
    readPolicies(options, sticky, signal),
    readAclItems(options, listIds, signal),
  ]);
  return {
    takenAtMs,
    takenAtWallMs,
    ...(version !== undefined && { version }),
    rules: toMap(rules),
    addresses: toMap(addresses),
    firewallRules: toMap(firewallRules),
    networks: networks.networks,
    networksAtMs: networks.networksAtMs,
    members,
    policies,
    ...(allocatedBy !== undefined && { allocatedBy }),
    aclItems: new Map(aclItems.map(({ listId, objects }) => [listId, objects])),
    unreadable: [rules, addresses, firewallRules, networks, ...aclItems].flatMap(
      (list): readonly Unreadable[] => list.unreadable,
    ),
  };
}

type ListedItems = WholeList<AclItem> & { readonly listId: string };

/** A list about which CloudStack refuses to answer is not known, which is of no concern to Services elsewhere. */
async function readAclItems(
  { api, projectId, limiter }: ObserveOptions,
  listIds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly ListedItems[]> {
  const read = async (listId: string): Promise<ListedItems[]> => {
    try {
      const list = await api.listAll(ACL_ITEMS, projectId, signal, { aclid: listId });
      return [{ ...list, listId }];
    } catch (error) {
      if (isAboutOne(error)) return [];
      throw error;
    }
  };
  const reading = [...listIds].map((listId) => limiter.run(() => read(listId), signal));
  return (await Promise.all(reading)).flat();
}

/** The Service that a rule is for, by its name. */
function findClaim(
  claims: ObserveOptions["claims"],
  { name }: Pick<Rule, "name">,
): LoadBalancerClaim | undefined {
  return claims.get(parseLbName(name) ?? "");
}

function toListIds(
  networkIds: ReadonlySet<string>,
  networks: ReadonlyMap<string, Network>,
): ReadonlySet<string> {
  const listIds = [...networkIds].flatMap((id) => {
    const { aclListId, aclListName = "" } = networks.get(id) ?? {};
    return aclListId === undefined || FIXED_LISTS.has(aclListName) ? [] : [aclListId];
  });
  return new Set(listIds);
}

/** Lists that had items of Services: a tier may have another list since, and the items are still to be removed. */
function findLeftLists({ known, claims }: ObserveOptions): ReadonlySet<string> {
  const isOfService = ({ reason = "" }: AclItem): boolean =>
    isAclReason(reason) && claims.has(reason.slice(reason.lastIndexOf(" ") + 1));
  const left = [...(known.aclItems ?? [])].filter(([, items]) =>
    items.some((one) => isOfService(one)),
  );
  return new Set(left.map(([listId]) => listId));
}

/** What can be read of a list, by ID. */
export function toMap<T extends { readonly id: string }>({
  objects,
}: WholeList<T>): Map<string, T> {
  return new Map(objects.map((one) => [one.id, one]));
}

/** Of the largest page. */
const PAGE_SIZE = 500;
/** Codes of CloudStack that are about the account, the keys or the whole server, not about one rule. */
const ABOUT_EVERYTHING: ReadonlySet<number> = new Set([401, 405, 411, 429, 432, 503]);

/** Rules whose members are needed. */
interface SomeRules {
  readonly rules: readonly Pick<Rule, "id" | "networkId">[];
  /** How many rules all lists together show, also those of others. */
  readonly ruleCount: number;
}

type MemberOptions = Pick<ObserveOptions, "isEveryVm" | "limiter" | "projectId" | "vms"> & {
  readonly api: Pick<LoadBalancingApi, "listMembers" | "listRulesOf">;
};

/**
 * Reads the members of rules: rule by rule, or VM by VM if that takes fewer requests. Only a VM with an interface in
 * the network of a rule can be behind it.
 *
 * @returns IDs of VMs by the ID of the rule. A rule about which CloudStack does not answer, or not in full, is missing
 * @throws {CloudError} when CloudStack answers nothing at all
 */
export async function readMembers(
  options: MemberOptions,
  { rules, ruleCount }: SomeRules,
  signal: AbortSignal,
): Promise<Observation["members"]> {
  const networkIds = new Set(rules.map(({ networkId }) => networkId));
  const vms = [...options.vms.values()].filter(
    ({ isGone, nics }) => !isGone && nics.some(({ networkId }) => networkIds.has(networkId)),
  );
  const pages = Math.ceil(ruleCount / PAGE_SIZE);
  return options.isEveryVm && vms.length * pages < rules.length
    ? await readByVm(options, rules, vms, signal)
    : await readByRule(options, rules, signal);
}

/** Whether a refusal is about what the question names, and says nothing about other questions. */
function isAboutOne(error: unknown): error is ApiError {
  return error instanceof ApiError && !ABOUT_EVERYTHING.has(error.code);
}

async function readByRule(
  { api, limiter }: MemberOptions,
  rules: SomeRules["rules"],
  signal: AbortSignal,
): Promise<Observation["members"]> {
  const members = new Map<string, ReadonlySet<string>>();
  const read = async (ruleId: string): Promise<void> => {
    try {
      const found = await api.listMembers(ruleId, signal);
      if (found !== undefined) members.set(ruleId, found);
    } catch (error) {
      if (!isAboutOne(error)) throw error;
    }
  };
  await Promise.all(rules.map(({ id }) => limiter.run(() => read(id), signal)));
  return members;
}

async function readByVm(
  { api, projectId, limiter }: MemberOptions,
  rules: SomeRules["rules"],
  vms: readonly BackendVm[],
  signal: AbortSignal,
): Promise<Observation["members"]> {
  const members = new Map(rules.map(({ id }) => [id, new Set<string>()]));
  const read = async (vmId: string): Promise<void> => {
    try {
      for (const ruleId of await api.listRulesOf(vmId, projectId, signal)) {
        members.get(ruleId)?.add(vmId);
      }
    } catch (error) {
      // A VM that was expunged since the list of VMs is behind no rule.
      if (!(error instanceof ApiError && error.unknownId === vmId)) throw error;
    }
  };
  await Promise.all(vms.map(({ id }) => limiter.run(() => read(id), signal)));
  return members;
}

/**
 * Reads the policies of rules in networks with stickiness: of those whose Service asks for it, that had a policy, or
 * that were never asked about. A rule without policies whose Service asks for none is not asked about again.
 *
 * @returns The policies by the ID of the rule. Rules that CloudStack, or the role, refuses to show are missing
 * @throws {CloudError} when CloudStack does not answer
 */
export async function readPolicies(
  {
    api,
    claims,
    known,
    limiter,
  }: Pick<ObserveOptions, "claims" | "known" | "limiter"> & {
    readonly api: Pick<LoadBalancingApi, "listPolicies">;
  },
  rules: readonly Pick<Rule, "id" | "name">[],
  signal: AbortSignal,
): Promise<Observation["policies"]> {
  const policies = new Map<string, readonly StickinessPolicy[]>();
  let isDenied = false;
  const read = async (ruleId: string): Promise<void> => {
    if (isDenied) return;
    try {
      const found = await api.listPolicies(ruleId, signal);
      if (found !== undefined) policies.set(ruleId, found);
    } catch (error) {
      if (isAboutOne(error)) return;
      // A role may lack this command if no Service asks for stickiness. Wrong keys make the observation fail elsewhere.
      isDenied ||= error instanceof ApiError && error.kind === "denied";
      if (!isDenied) throw error;
    }
  };
  const reading = rules.map(async (rule) => {
    const before = known.policies?.get(rule.id);
    const { annotations = {} } = findClaim(claims, rule) ?? {};
    const isWanted = annotations[ANNOTATIONS.stickinessMethod] !== undefined;
    if (before?.length === 0 && !isWanted) policies.set(rule.id, before);
    else await limiter.run(() => read(rule.id), signal);
  });
  await Promise.all(reading);
  return policies;
}

const NETWORKS_AGE_MS_MAX = 3_600_000;

type Networks = Required<Pick<Observation, "networks" | "networksAtMs" | "unreadable">>;

/**
 * Lists all networks, with the names of the ACL lists of those that are needed: after an hour, after an observation
 * that cannot be relied on, or while one is needed that is not known. If one that is needed is a tier of a VPC, each
 * time: a user may give it an ACL list that lets no client in.
 */
export async function readNetworks(
  {
    api,
    known,
    projectId,
    takenAtMs,
  }: Pick<ObserveOptions, "projectId" | "takenAtMs"> & {
    readonly api: Pick<LoadBalancingApi, "listAll" | "readAclListName">;
    readonly known: Partial<Networks>;
  },
  desired: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Networks> {
  const { networks: before = new Map(), networksAtMs = -Infinity, unreadable = [] } = known;
  const isEnough = (id: string): boolean => {
    const network = before.get(id);
    // A fault may have hidden it.
    return network !== undefined && network.vpcId === undefined;
  };
  if (takenAtMs - networksAtMs < NETWORKS_AGE_MS_MAX && [...desired].every(isEnough)) {
    const ofNetworks = unreadable.filter(({ kind }) => kind === "network");
    return { networks: before, networksAtMs, unreadable: ofNetworks };
  }
  const listed = await api.listAll(NETWORKS, projectId, signal);
  // Old servers show only the ID of the list of a network.
  const names = new Map([...before.values()].map((one) => [one.aclListId, one.aclListName]));
  const networks = new Map<string, Network>();
  for (const one of listed.objects) {
    const { id, aclListId, aclListName } = one;
    let name = aclListName ?? names.get(aclListId);
    if (aclListId !== undefined && name === undefined && desired.has(id)) {
      name = await api.readAclListName(aclListId, projectId, signal);
    }
    names.set(aclListId, name);
    networks.set(id, { ...one, ...(name !== undefined && { aclListName: name }) });
  }
  return { networks, networksAtMs: takenAtMs, unreadable: listed.unreadable };
}

/**
 * Lists the addresses without tags that the records of Services name or may mean. A record may be older than what
 * happened to its address since, so CloudStack is asked who took it.
 *
 * @returns When each was recorded, by its ID, in milliseconds since 1970
 */
export function listAsked(
  claims: Iterable<LoadBalancerClaim>,
  addresses: ReadonlyMap<string, PublicAddress>,
  signer: RecordSigner,
): ReadonlyMap<string, number> {
  const asked = new Map<string, number>();
  for (const { record, owner } of claims) {
    if (record === undefined) continue;
    const named = parseRecord(record, owner.uid, signer)?.address;
    if (named === undefined) continue;
    for (const { id, tags } of listNamed(named, addresses)) {
      if (tags.size === 0) asked.set(id, Math.min(named.atMs, asked.get(id) ?? Infinity));
    }
  }
  return asked;
}

/** Where CloudStack chose, a record means any address. */
function listNamed(
  { id, ip }: AskedAddress,
  addresses: ReadonlyMap<string, PublicAddress>,
): Iterable<PublicAddress> {
  if (id === undefined && ip === undefined) return addresses.values();
  const named =
    id === undefined ? addresses.values().find((one) => one.ip === ip) : addresses.get(id);
  return named === undefined ? [] : [named];
}
