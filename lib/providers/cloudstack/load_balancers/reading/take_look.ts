/**
 * Takes one look at CloudStack: everything that load balancers are made of, for all Services together.
 * @module
 */
import type { LoadBalancerClaim } from "../../../../cloud/capabilities/load_balancers.ts";
import { Limiter } from "../../../../core/concurrency.ts";
import type { Version } from "../../session/facts.ts";
import type { LoadBalancingApi, WholeList } from "../../wire/load_balancing_api.ts";
import { listAsked } from "./asked_addresses.ts";
import { isAboutOne, readMemberships } from "./memberships.ts";
import type { Networks } from "./networks.ts";
import { readPolicies } from "./policies.ts";
import type { RecordSigner } from "../record_signer.ts";
import { parseRuleName } from "../rule_names.ts";
import type { Found } from "../store.ts";
import type {
  AclItem,
  BackendVm,
  Network,
  Rule,
  StickinessPolicy,
  Unreadable,
  View,
} from "../view.ts";
import { ANNOTATIONS, isAclReason } from "../words.ts";

/** What a look needs. */
interface LookOptions {
  readonly api: LoadBalancingApi;
  readonly networks: Networks;
  readonly projectId: string | undefined;
  readonly readVersion: () => Promise<Version | undefined>;
  /** Every Service, by the name of its load balancer. */
  readonly claims: ReadonlyMap<string, LoadBalancerClaim>;
  readonly recordSigner: RecordSigner;
  readonly vms: ReadonlyMap<string, BackendVm>;
  /** Whether `vms` are all that this user may see. */
  readonly isEveryVm: boolean;
  /** IDs of the networks that Nodes are in. */
  readonly nodeNetworkIds: ReadonlySet<string>;
  /** Of the look before. */
  readonly knownPolicies: ReadonlyMap<string, readonly StickinessPolicy[]>;
  /** Of the look before. */
  readonly knownItems: View["aclItems"];
  /** Asks whose API user took addresses, see `readTakers`. */
  readonly readTakers: (
    asked: ReadonlyMap<string, number>,
  ) => Promise<ReadonlyMap<string, "us" | "others"> | undefined>;
  /** When the look began, in monotonic milliseconds. */
  readonly takenAtMs: number;
  /** The same by the wall clock, in milliseconds since 1970. */
  readonly takenAtWallMs: number;
}

/** Lists of ACLs that every account has, and that no account can change. */
const FIXED_LISTS: ReadonlySet<string> = new Set(["default_allow", "default_deny"]);
/** Questions about single rules, VMs and lists at once. A look must not hold up what else asks CloudStack. */
const CONCURRENCY_MAX = 4;

/**
 * Takes one look. One list each of rules, addresses and firewall rules, one list for each list of ACLs, and what
 * {@linkcode readMemberships} and {@linkcode readPolicies} need.
 *
 * @throws {CloudError} when CloudStack does not answer one of the questions, or not in full
 */
export async function takeLook(
  options: LookOptions,
  signal: AbortSignal,
): Promise<Omit<Found, "isOurCloud">> {
  const { api, projectId, claims, nodeNetworkIds, takenAtMs } = options;
  const [rules, addresses, firewallRules, version] = await Promise.all([
    api.listRules(projectId, signal),
    api.listAddresses(projectId, signal),
    api.listFirewallRules(projectId, signal),
    options.readVersion(),
  ]);
  const ours = rules.objects.filter((rule) => findClaim(claims, rule) !== undefined);
  const wanted = new Set([...nodeNetworkIds, ...ours.map(({ networkId }) => networkId)]);
  const networks = await options.networks.read({ wanted, projectId }, signal);
  const limited = { ...options, limiter: new Limiter(CONCURRENCY_MAX) };
  const asked = listAsked(claims.values(), toMap(addresses), options.recordSigner);
  const [takers, members, policies, aclItems] = await Promise.all([
    asked.size === 0 ? undefined : options.readTakers(asked),
    readMembers(ours, rules, limited, signal),
    readPoliciesOf(ours, { ...limited, networks: networks.networks }, signal),
    readAclItems(
      toListIds(wanted, networks.networks).union(findLeftLists(options)),
      limited,
      signal,
    ),
  ]);
  return {
    takenAtMs,
    takenAtWallMs: options.takenAtWallMs,
    ...(version !== undefined && { version }),
    rules: toMap(rules),
    addresses: toMap(addresses),
    firewallRules: toMap(firewallRules),
    networks: networks.networks,
    members,
    policies,
    ...(takers !== undefined && { takers }),
    aclItems: new Map(aclItems.map(({ listId, objects }) => [listId, objects])),
    unreadable: [rules, addresses, firewallRules, networks, ...aclItems].flatMap(
      (list): readonly Unreadable[] => list.unreadable,
    ),
  };
}

async function readMembers(
  ours: readonly Rule[],
  { objects }: WholeList<Rule>,
  { api, vms, isEveryVm, projectId, limiter }: Limited,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const question = {
    rules: new Map(ours.map((rule) => [rule.id, rule])),
    ruleCount: objects.length,
    vms: isEveryVm ? vms : undefined,
    projectId,
    limiter,
  };
  return await readMemberships(api, question, signal);
}

interface Limited extends LookOptions {
  readonly limiter: Limiter;
}

interface Stickiness extends Pick<Limited, "api" | "claims" | "knownPolicies" | "limiter"> {
  readonly networks: ReadonlyMap<string, Network>;
}

async function readPoliciesOf(
  ours: readonly Rule[],
  { api, claims, knownPolicies, networks, limiter }: Stickiness,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly StickinessPolicy[]>> {
  const rules = ours.filter(({ networkId }) => networks.get(networkId)?.stickiness !== undefined);
  const asksForIt = (rule: Rule): boolean => {
    const { annotations = {} } = findClaim(claims, rule) ?? {};
    return annotations[ANNOTATIONS.stickinessMethod] !== undefined;
  };
  const question = {
    rules: new Map(rules.map((rule) => [rule.id, asksForIt(rule)])),
    known: knownPolicies,
    limiter,
  };
  return await readPolicies(api, question, signal);
}

type ListedItems = WholeList<AclItem> & { readonly listId: string };

/** A list about which CloudStack refuses to answer is not known, which is of no concern to Services elsewhere. */
async function readAclItems(
  listIds: ReadonlySet<string>,
  { api, projectId, limiter }: Pick<Limited, "api" | "projectId" | "limiter">,
  signal: AbortSignal,
): Promise<readonly ListedItems[]> {
  const read = async (listId: string): Promise<ListedItems[]> => {
    try {
      return [{ ...(await api.listAclItems(listId, projectId, signal)), listId }];
    } catch (error) {
      if (isAboutOne(error)) return [];
      throw error;
    }
  };
  const reading = [...listIds].map((listId) => limiter.run(() => read(listId), signal));
  return (await Promise.all(reading)).flat();
}

/** The Service that a rule is for, by its name. */
function findClaim(claims: LookOptions["claims"], { name }: Rule): LoadBalancerClaim | undefined {
  return claims.get(parseRuleName(name)?.lbName ?? "");
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
function findLeftLists({ knownItems, claims }: LookOptions): ReadonlySet<string> {
  const isOfService = ({ reason = "" }: AclItem): boolean =>
    isAclReason(reason) && claims.has(reason.slice(reason.lastIndexOf(" ") + 1));
  const left = [...knownItems].filter(([, items]) => items.some((one) => isOfService(one)));
  return new Set(left.map(([listId]) => listId));
}

/** What can be read of a list, by ID. */
export function toMap<T extends { readonly id: string }>({
  objects,
}: WholeList<T>): Map<string, T> {
  return new Map(objects.map((one) => [one.id, one]));
}
