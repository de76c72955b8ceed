/**
 * Chooses the address of one family for a Service: the one that it has, the one that it asks for, one that it may
 * share, or a free one.
 * @module
 */
import type { LoadBalancerProblem, LoadBalancerSpec } from "../capabilities/load_balancers.ts";
import { joinFew } from "../../core/text/printable.ts";
import { type Allocations, type Hold, listShown, type Occupant } from "./allocations.ts";
import { explainRefusal, toUnusable } from "../address_sharing.ts";
import {
  accepts,
  type AddressPool,
  countAddresses,
  describeLeftOut,
  type Family,
  listPreferred,
  toFamily,
  withoutReserved,
} from "./pool.ts";
import {
  describeUnknownPool,
  listOwners,
  nameRivals,
  nameService,
  toNotice,
  toWaiting,
} from "./problems.ts";
import { type PoolRecord, parseRecord } from "./record.ts";
import { explainUse, isBeforeRivals, isShown, listRivals, type Rival } from "./sharing.ts";
import { findSharedKey, UNSPECIFIED, type PoolRequest } from "./request.ts";
import { KUBE_VIP_IPS, SHARED_ADDRESS } from "./words.ts";

const INTRUDERS_NAMED_MAX = 3;

/** What to choose an address for. */
interface Question {
  readonly allocations: Allocations;
  readonly spec: LoadBalancerSpec;
  readonly request: PoolRequest;
  readonly family: Family;
}

/** The address, and what to say about it. */
export interface Choice {
  /** Absent if there is none; then a problem says why. */
  readonly address?: string;
  readonly problems: readonly LoadBalancerProblem[];
  /** Whether there is no address because no pool has any of this family for the Service, or all are in use. */
  readonly isOutOfAddresses?: boolean;
}

/** Chooses. Pure. */
export function chooseAddress(question: Question): Choice {
  const { request, family } = question;
  const candidates = listCandidates(question).filter((one) => fits(question, one));
  const kept = findKept(question, candidates);
  if (kept !== undefined) return { address: kept, problems: listNotices(question, kept) };
  const disputed = candidates.find(({ hold }) => hold === "disputed");
  if (disputed !== undefined) return { problems: [explainDispute(question, disputed)] };
  const refusal = refuseSharing(question);
  if (refusal !== undefined) return { problems: [refusal] };
  const asked = request.addresses.get(family);
  if (asked === undefined) return findShared(question) ?? findFree(question);
  const problem = refuseAsked(question, asked);
  return problem === undefined ? { address: asked, problems: [] } : { problems: [problem] };
}

/** An address that the Service has in some way. */
interface Candidate {
  readonly address: string;
  readonly hold: Hold;
}

/**
 * The address that the Service goes on with. What was given comes first: a status that differs was written by hand. A
 * record comes last: backups and copies of manifests bring old ones.
 */
function findKept(
  { allocations, spec }: Question,
  candidates: readonly Candidate[],
): string | undefined {
  const clear = candidates.find(({ address, hold }) =>
    isBeforeRivals(spec, hold, listRivals(allocations, address, spec)),
  );
  // If another Service shows the same address, both keep it: neither may lose what it has.
  return (clear ?? candidates.find(({ hold }) => hold === "shown"))?.address;
}

function listCandidates({ allocations, spec, family }: Question): Candidate[] {
  const shown = listShown(spec);
  const reserved = allocations.listReserved(spec.owner.uid);
  const recorded = parseRecord(spec.record).addresses;
  const all = new Set([...reserved, ...shown, ...recorded]);
  const toHold = (address: string): Hold => {
    if (shown.includes(address)) {
      return allocations.isDisputed(spec.owner.uid, address) ? "disputed" : "shown";
    }
    return reserved.includes(address) ? "reserved" : "recorded";
  };
  return [...all]
    .filter((address) => toFamily(address) === family)
    .map((address) => ({ address, hold: toHold(address) }));
}

/** Whether the Service still asks for this address. The settings count only for an address that no status shows. */
function fits(question: Question, { address, hold }: Candidate): boolean {
  const { allocations, spec, request, family } = question;
  const asked = request.addresses.get(family);
  if (asked !== undefined && asked !== address) return false;
  const pool = allocations.pools.find(address);
  if (!isShown(hold)) {
    // A backup may bring the record of an address that something else has now.
    const mayHave = hold === "reserved" || isOpen(question, address);
    return pool !== undefined && mayHave && isEligible(question, pool, asked);
  }
  if (request.pool === undefined || request.pool === pool?.name) return true;
  // It got the address from the pool that it asks for: the pool changed, and not the request.
  const record = parseRecord(spec.record);
  return isFromPool(record, address, request.pool) || (pool === undefined && isEmpty(record));
}

function isFromPool({ addresses, pool }: PoolRecord, address: string, wished: string): boolean {
  return pool === wished && addresses.includes(address);
}

function isEmpty({ addresses }: PoolRecord): boolean {
  return addresses.length === 0;
}

/** Whether a Service may get an address of a pool. */
function isEligible({ spec, request }: Question, pool: AddressPool, asked?: string): boolean {
  if (!accepts(pool, spec)) return false;
  if (request.needsShareable && !pool.isShareable) return false;
  if (request.pool !== undefined) return request.pool === pool.name;
  return pool.isAutoAssigned || asked !== undefined;
}

/** Whether nothing but Services that Landfall serves uses an address. */
function isUnused({ allocations, spec }: Question, address: string): boolean {
  return allocations.listOccupants(address, spec.owner.uid).length === 0;
}

/** Whether nothing but Services that Landfall serves uses an address, and the operator gives it not only to others. */
function isOpen(question: Question, ip: string): boolean {
  const { allocations, spec } = question;
  const { namespace } = spec.owner;
  const isReserved =
    explainRefusal({ ip, namespace, rules: allocations.pools.sharing }) !== undefined;
  return !isReserved && isUnused(question, ip);
}

/** Its status shows an address that another Service was given before: it stays there, and is not announced for it. */
function explainDispute(
  { allocations, spec }: Question,
  { address }: Candidate,
): LoadBalancerProblem {
  const rivals = listRivals(allocations, address, spec);
  const what = `the status shows ${address}, which is the address of ${nameRivals(rivals)}`;
  const problem = toWaiting("AddressConflict", `${what}; ask for another address`);
  return { ...problem, others: listOwners(rivals) };
}

/** Who else has an address that the Service keeps. */
export function listConflicts(
  { allocations, spec }: Pick<Question, "allocations" | "spec">,
  address: string,
): LoadBalancerProblem[] {
  const notices: LoadBalancerProblem[] = [];
  const rivals = listRivals(allocations, address, spec).filter(({ hold }) => isShown(hold));
  if (rivals.length > 0) {
    const what = `${address} is also the address of ${nameRivals(rivals)}`;
    const both = rivals.length === 1 ? "both" : "all";
    const advice = `${both} keep it until one of them is deleted or asks for another address`;
    const notice = toNotice("AddressConflict", `${what}; ${advice}`);
    notices.push({ ...notice, others: listOwners(rivals) });
  }
  const intruders = allocations
    .listOccupants(address, spec.owner.uid)
    .filter(({ mayAnnounce = false }) => !mayAnnounce);
  if (intruders.length > 0) notices.push(explainIntruders(spec, address, intruders));
  return notices;
}

/** What is odd about an address that the Service keeps. */
function listNotices(question: Question, address: string): LoadBalancerProblem[] {
  const { allocations, request } = question;
  const notices = listConflicts(question, address);
  const hasRivals = notices.some(({ others }) => others !== undefined);
  const pool = allocations.pools.find(address);
  const outside = explainOutside(question, pool);
  if (outside !== undefined) {
    const advice = "it keeps the address until it asks for another one or is deleted";
    notices.push(toNotice("AddressOutsidePools", `${address} ${outside}; ${advice}`));
  }
  if (request.needsShareable && pool?.isShareable === false && hasRivals) {
    const message = `${address} cannot be shared: the pool ${pool.name} is not shareable`;
    notices.push(toNotice("AddressNotAvailable", message));
  }
  return notices;
}

/** Something else uses the address of a Service. It hears of it, too, if it is a Service. */
function explainIntruders(
  spec: LoadBalancerSpec,
  address: string,
  intruders: readonly Occupant[],
): LoadBalancerProblem {
  const whats = joinFew([...new Set(intruders.map(({ what }) => what))], INTRUDERS_NAMED_MAX);
  const advice = "the Service keeps it; give one of them another address";
  const notice = toNotice("AddressConflict", `${address} is also ${whats}; ${advice}`);
  const elsewhere = intruders.flatMap(({ owner, field }) => {
    if (owner === undefined) return [];
    const what = `${field} has ${address}, which is the address of ${nameService(spec)}`;
    return [{ owner, message: `${what}; ${nameService(spec)} keeps it: use another address here` }];
  });
  return { ...notice, elsewhere: elsewhere.slice(0, INTRUDERS_NAMED_MAX) };
}

function explainOutside(
  { spec, request }: Question,
  pool: AddressPool | undefined,
): string | undefined {
  if (pool === undefined) return "is in no address pool";
  if (!accepts(pool, spec)) return `is in the pool ${pool.name}, which is not for this Service`;
  if (request.pool === undefined || request.pool === pool.name) return undefined;
  return `is in the pool ${pool.name} now, not in the pool that it asks for`;
}

/** A Node that announces a shared address must have Pods of every Service with it. */
function refuseSharing({ spec, request }: Question): LoadBalancerProblem | undefined {
  if (!request.needsShareable || spec.trafficPolicy !== "Local") return undefined;
  if (spec.localPods) return undefined;
  const message = `${SHARED_ADDRESS} needs a selector with externalTrafficPolicy: Local, or the policy Cluster`;
  return toWaiting("AddressWishInvalid", message);
}

function refuseAsked(question: Question, asked: string): LoadBalancerProblem | undefined {
  const { allocations, spec, request } = question;
  const why = explainPool(question, asked);
  if (why !== undefined) {
    return toWaiting("AddressNotAvailable", `${request.source} asks for ${asked}, ${why}`);
  }
  const refusal = explainUse(allocations, asked, spec);
  if (refusal !== undefined) return toUnusable(refusal);
  const rivals = listRivals(allocations, asked, spec);
  if (rivals.length === 0) return undefined;
  const has = rivals.length === 1 ? "has" : "have";
  const what = `${request.source} asks for ${asked}, which ${nameRivals(rivals)} ${has}`;
  const whyNot = explainRivals(question, asked, rivals);
  return toWaiting("AddressNotAvailable", `${what}${whyNot}ask for another address`);
}

/** Why a Service cannot share an address of others; ends before the advice to ask for another one. */
function explainRivals(
  { allocations, spec, request }: Question,
  asked: string,
  rivals: readonly Rival[],
): string {
  const pool = allocations.pools.find(asked);
  if (pool?.isShareable === false) return `, and the pool ${pool.name} is not shareable: `;
  const keys = rivals.map(({ claim }) => findSharedKey(claim));
  if (request.sharedKey === undefined || keys.some((key) => key !== request.sharedKey)) {
    return `: to share it, give each of them the same ${SHARED_ADDRESS}, or `;
  }
  const same = rivals
    .flatMap(({ claim: { ports = [] } }) => ports)
    .find((one) =>
      spec.ports.some((own) => own.port === one.port && own.protocol === one.protocol),
    );
  return same === undefined ? ": " : `, with the port ${same.protocol} ${same.port}, too: `;
}

function explainPool({ allocations, spec, request }: Question, asked: string): string | undefined {
  const pool = allocations.pools.find(asked);
  if (pool === undefined) {
    const leftOut = describeLeftOut(allocations.pools.pools, asked);
    if (leftOut === undefined) {
      if (!UNSPECIFIED.has(asked)) return "which is in no address pool";
      const where = `spec.loadBalancerIP or ${KUBE_VIP_IPS}, with loadBalancers.announce: kubeVip`;
      return `which is no address: it means DHCP only in ${where}; ask for an address of a pool`;
    }
    return `which is ${leftOut}; only a range first-last includes it`;
  }
  if (request.pool !== undefined && request.pool !== pool.name) {
    return `which is in the pool ${pool.name}, but ${request.poolSource} asks for another one`;
  }
  if (!accepts(pool, spec)) return `but its pool ${pool.name} is not for this Service`;
  const [occupant] = allocations.listOccupants(asked, spec.owner.uid);
  if (occupant !== undefined) return `which is ${occupant.what}`;
  if (!request.needsShareable || pool.isShareable) return undefined;
  return `but ${SHARED_ADDRESS} needs a shareable pool, and ${pool.name} is not`;
}

/** The lowest address of a Service with the same key that this one may share. */
function findShared(question: Question): Choice | undefined {
  const { allocations, spec, request, family } = question;
  if (request.sharedKey === undefined) return undefined;
  const addresses = new Set<string>();
  for (const { holds } of allocations.listPartners(spec.owner.namespace, request.sharedKey)) {
    for (const address of holds.keys()) if (toFamily(address) === family) addresses.add(address);
  }
  const address = [...addresses].toSorted().find((one) => {
    const pool = allocations.pools.find(one);
    if (pool === undefined || !isOpen(question, one) || !isEligible(question, pool)) return false;
    return listRivals(allocations, one, spec).length === 0;
  });
  return address === undefined ? undefined : { address, problems: [] };
}

function findFree(question: Question): Choice {
  const { allocations, spec, request, family } = question;
  const { pools, sharing } = allocations.pools;
  const eligible = pools.filter(
    (pool) => isEligible(question, pool) && countAddresses(pool, family) > 0n,
  );
  const { namespace, name } = spec.owner;
  const own = request.needsShareable ? (request.sharedKey ?? name) : name;
  let isReserved = false;
  for (const pool of eligible) {
    if (BigInt(allocations.countUsed(pool, family)) >= countAddresses(pool, family)) continue;
    const open = withoutReserved(pool, namespace, sharing);
    if (open !== pool) isReserved = true;
    for (const address of listPreferred(open, family, `${namespace}/${own}`)) {
      if (!isUnused(question, address)) continue;
      if (listRivals(allocations, address, spec).length === 0) return { address, problems: [] };
    }
  }
  const problem =
    eligible.length > 0 ? toExhausted(eligible, family, isReserved) : explainNoPool(question);
  return { problems: [problem], isOutOfAddresses: true };
}

/** @param isReserved Whether the operator gives some of their addresses only to other namespaces */
function toExhausted(
  pools: readonly AddressPool[],
  family: Family,
  isReserved: boolean,
): LoadBalancerProblem {
  const names = pools.map(({ name }) => name).join(", ");
  const use = isReserved
    ? "is in use, or of other namespaces by loadBalancers.sharing"
    : "is in use";
  const what = `every IPv${family} address of ${pools.length === 1 ? "the pool" : "the pools"} ${names} ${use}`;
  const advice = "add addresses to loadBalancers.pools, or delete Services that are not needed";
  return toWaiting("AddressPoolExhausted", `${what}; ${advice}`);
}

function explainNoPool({ allocations, spec, request, family }: Question): LoadBalancerProblem {
  if (request.pool === undefined) {
    const kind = request.needsShareable ? "shareable " : "";
    const message = `no ${kind}address pool gives IPv${family} addresses to this Service without being asked`;
    return toWaiting("NoAddressPool", message);
  }
  const pool = allocations.pools.pools.find(({ name }) => name === request.pool);
  const why = ((): string => {
    if (pool === undefined) return describeUnknownPool(request.pool, allocations.pools.pools);
    if (!accepts(pool, spec)) return `the pool ${pool.name}, which is not for this Service`;
    if (request.needsShareable && !pool.isShareable) {
      return `the pool ${pool.name}, which is not shareable`;
    }
    return `the pool ${pool.name}, which has no IPv${family} addresses`;
  })();
  return toWaiting("NoAddressPool", `${request.poolSource} names ${why}`);
}
