/**
 * Plans the load balancer of one Service in CloudStack. Pure. After a plan is applied, the next one is empty.
 * @module
 */
import type {
  LoadBalancerIngress,
  LoadBalancerPlan,
  LoadBalancerProblem,
  LoadBalancerSpec,
} from "../../../cloud/capabilities/load_balancers.ts";
import { toUnsharedNotice, toUnusable } from "../../../cloud/address_sharing.ts";
import { isAllowing, isExactly } from "./acl.ts";
import { type AddressChoice, chooseAddress, findUnreadable } from "./choose_address.ts";
import { checkBackends } from "./backends.ts";
import { findAccessControl, type AccessControl, isAccessControl, toNoRuleLists } from "./access.ts";
import {
  explainSharing,
  inPart,
  isEnding,
  isNamed,
  isOwn,
  isShown,
  listOwnRules,
  type Current,
  toAccessPort,
  toPart,
  toCurrent,
  toStep,
} from "./current.ts";
import {
  checkAsked,
  checkPending,
  checkUnsigned,
  listUnclear,
  isOwnOrProven,
  listAddresses,
  mayTag,
  planNaming,
  tagProven,
  toUnclear,
  toTagging,
} from "./ownership.ts";
import { describeParts, type PartsSite } from "./parts.ts";
import {
  planClosing,
  planKeeping,
  planPort,
  type PortPlan,
  type Site,
  toDeletion,
} from "./rule.ts";
import { ANNOTATIONS, findKeptFor, isWaiting, toWaiting } from "./words.ts";
import { planAddressRemoval, toAwaiting, withItems } from "./release.ts";
import type { Step } from "./steps.ts";
import { checkStickiness } from "./stickiness.ts";
import {
  type AclItem,
  type Network,
  type PublicAddress,
  type Rule,
  type Observation,
  hasRuleLists,
} from "./observation.ts";
import { keepsAddress, toDesired, type Desired } from "./desired.ts";

type Plan = LoadBalancerPlan<Step>;

/**
 * Plans a Service: its address, then port after port, then what it does not need any more.
 *
 * What cannot be done as asked is said before anything is made. Meanwhile the rules that are there keep their backends
 * up to date. What keeps clients out of them comes first, then their backends: CloudStack may refuse anything else for
 * as long as the Service asks for it.
 */
export function plan(cloud: Observation, spec: LoadBalancerSpec): Plan {
  const current = toCurrent(cloud, spec);
  const { desired, isPossible, clients, problems: ownProblems } = toDesired(spec);
  const shown: PartsSite = { current, spec, desired, clients };
  const waiting = toAwaiting(current);
  if (waiting !== undefined) return { steps: [waiting], problems: [], ...describeParts(shown) };
  const unreadable = findUnreadable(current, new Set(listAddresses(current).map(({ id }) => id)));
  if (!isPossible || unreadable.length > 0) {
    const who = unreadable.length > 0 ? undefined : clients;
    return keepServing(shown, [...ownProblems, ...unreadable], who);
  }
  const choice = chooseAddress(current, spec);
  const place = checkPlace(current, desired, choice);
  const problems = [...ownProblems, ...choice.problems, ...place.problems];
  const { address, network, take } = choice;
  const chosen = { ...shown, address, network };
  if (network === undefined || place.access === undefined)
    return keepServing(chosen, problems, desired);
  if (address === undefined) {
    const kept = keepServing(chosen, problems, desired);
    if (take === undefined) return kept;
    return { ...kept, steps: [...kept.steps, ...tagProven(current), take] };
  }
  const sticky = checkStickiness(desired, network);
  const site: Site = {
    current,
    address,
    network,
    access: place.access,
    desired: sticky.length > 0 ? { ...desired, stickiness: "refused" } : desired,
    backends: spec.backends,
    ports: spec.ports,
    isOwn: isOwnOrProven(current, address),
    isNeeded: toNeed(desired, place.access),
  };
  const own = [...problems, ...sticky];
  const { refusal } = choice;
  if (refusal === undefined) {
    const unshared = explainSharing(cloud, spec, address);
    if (unshared !== undefined) own.push(toUnsharedNotice(unshared, "both keep the address"));
    return { ...planSite(site, spec, own), ...describeParts(chosen) };
  }
  // What goes with the address is not made again.
  if (isEnding(current.cloud, address))
    return { steps: [], problems: [...own, toUnusable(refusal)], ...describeParts(chosen) };
  // An older version let it in. It keeps what it has, and gets nothing more.
  const whole = planSite(site, spec, [...own, toUnsharedNotice(refusal)]);
  const makesRules = whole.steps.some(({ change }) => change.kind === "createRule");
  if (makesRules) return keepServing(chosen, [...problems, toUnusable(refusal)], desired);
  return { ...whole, ...describeParts(chosen) };
}

function planSite(
  site: Site,
  spec: LoadBalancerSpec,
  own: readonly LoadBalancerProblem[],
): Omit<Plan, "parts"> {
  const { current, desired, address, network, backends } = site;
  const ports = desired.ports.map((port) => planPort(site, port));
  const keeping = [...ports.flatMap((one) => one.keeping), ...planClosingOfAll(site)];
  const problems = [
    ...own,
    ...listUnclear(current)
      .filter(({ id }) => id !== address.id)
      .map(toUnclear),
    ...checkUnsigned(current),
    ...checkBackends(current, network, backends),
    ...ports.flatMap((one) => one.problems),
  ];
  const tagging =
    !isOwn(current, address) && mayTag(current, address) ? [toTagging(current, address)] : [];
  // What the record names already goes first.
  const naming = current.record?.shared === undefined ? planNaming(current, address) : [];
  const making = [...tagging, ...naming, ...ports.flatMap((one) => one.steps)];
  const works = keeping.length + making.length === 0 && !isWaiting(problems);
  const rest = planRest(site, spec, works);
  return {
    steps: [
      ...keeping,
      ...rest.keeping,
      ...making,
      ...rest.steps,
      ...(rest.isHeld ? [] : planRecord(site)),
    ],
    problems: [...problems, ...rest.problems],
    ...(works && {
      ingress: toIngress(desired, address.ip),
      annotations: toAssociation(current, address),
    }),
  };
}

/**
 * The note that version 1.x of the Go provider reads: it releases the address of `spec.loadBalancerIP` with the
 * Service. It is written for an address that tags prove to be the Service's and that must go with it. It goes before
 * the Service moves from such an address to another one. Any other note is the user's.
 */
function toAssociation(current: Current, address: PublicAddress): NonNullable<Plan["annotations"]> {
  const { claim } = current;
  const isKept = keepsAddress(claim.annotations) || findKeptFor(address.tags) !== undefined;
  if (isOwn(current, address) && !isKept)
    return claim.address === address.ip ? { [ANNOTATIONS.isAssociated]: "true" } : {};
  const isLeaving = listAddresses(current).some((one) => isOwn(current, one));
  return isLeaving ? { [ANNOTATIONS.isAssociated]: undefined } : {};
}

/**
 * Plans to remove what the Service does not need any more. Another address goes only when the new one works, and when
 * the status does not show it any more.
 */
function planRest(
  site: Site,
  spec: LoadBalancerSpec,
  works: boolean,
): PortPlan & { readonly isHeld: boolean } {
  const { current, desired, address, isNeeded } = site;
  const steps = listObsolete(site).flatMap((one) =>
    inPart(toPart(one), [toDeletion(current, one)]),
  );
  const others = listAddresses(current).filter(({ id }) => id !== address.id);
  const isHeld =
    others.length > 0 && (!works || others.some(({ ip }) => isShown(current.claim, ip)));
  if (isHeld) {
    const rules = others.flatMap(({ id }) => listOwnRules(current, id));
    const kept = planKeeping(current, rules, spec, desired);
    const isUsed = (item: AclItem): boolean =>
      rules.some((rule) => isExactly(item, toAccessPort(rule)));
    const all = withItems(current, steps, (item) => isNeeded(item) || isUsed(item));
    return { keeping: kept, steps: all, problems: [], isHeld };
  }
  const moves = others.map((one) => planAddressRemoval(current, one, isNeeded));
  return {
    keeping: [],
    steps: withItems(current, [...steps, ...moves.flatMap((one) => one.steps)], isNeeded),
    problems: moves.flatMap((one) => one.problems),
    isHeld,
  };
}

/** The rules of ports that the Service does not ask for any more. */
function listObsolete({ current, desired, address }: Site): readonly Rule[] {
  const ports = new Set(desired.ports.map(({ publicPort }) => publicPort));
  return listOwnRules(current, address.id).filter((one) => !ports.has(one.publicPort));
}

/** Keeps all clients out of those ports. The rules themselves go last. */
function planClosingOfAll(site: Site): readonly Step[] {
  return listObsolete(site).flatMap((one) =>
    inPart(toPart(one), planClosing(site.current, one, site.isNeeded)),
  );
}

/** Plans to remove a record that says nothing any more: the tags of the address are the proof from now on. */
function planRecord({ current, address }: Site): readonly Step[] {
  if (current.claim.record === undefined) return [];
  const isTagged = isOwn(current, address);
  if (current.record?.address !== undefined && !isTagged) return [];
  if (current.record?.shared === address.ip && !isTagged && !isNamed(current, address)) return [];
  if (checkPending(current).length + checkAsked(current).length > 0) return [];
  return [toStep(current, "remove the record", { kind: "forgetRecord" })];
}

interface PlaceCheck {
  readonly access?: AccessControl;
  readonly problems: readonly LoadBalancerProblem[];
}

/** Checks what the network must offer, before anything is taken or made. */
function checkPlace({ cloud }: Current, desired: Desired, { network }: AddressChoice): PlaceCheck {
  if (network === undefined) return { problems: [] };
  const access = findAccessControl(cloud, network);
  if (!isAccessControl(access)) return { problems: [access] };
  const problems = checkOffer(network, desired);
  if (access.kind === "rule" && desired.sources !== undefined && !hasRuleLists(cloud)) {
    problems.push(toNoRuleLists(`the network ${network.name} (${network.id})`));
  }
  return problems.length > 0 ? { problems } : { access, problems };
}

function checkOffer(
  { name, id, protocols, algorithms }: Network,
  desired: Desired,
): LoadBalancerProblem[] {
  const where = `the network ${name} (${id})`;
  const missing = desired.ports.filter(({ protocol }) => protocols?.has(protocol) === false);
  const problems = missing.map(({ protocol, publicPort }) =>
    toWaiting(
      "UnsupportedService",
      `port ${publicPort}: ${where} does not offer the protocol ${protocol}`,
    ),
  );
  if (algorithms?.has(desired.algorithm) !== false) return problems;
  const message = `${where} does not offer the algorithm ${desired.algorithm}`;
  return [...problems, toWaiting("UnsupportedService", message)];
}

function toNeed({ ports }: Desired, access: AccessControl): (item: AclItem) => boolean {
  if (access.kind !== "acl") return () => false;
  return (item) =>
    item.listId === access.listId &&
    isAllowing(item) &&
    ports.some((port) => isExactly(item, port));
}

/** Leaves the rules that are there as they are, except for what {@linkcode planKeeping} does. */
function keepServing(
  shown: PartsSite,
  problems: readonly LoadBalancerProblem[],
  who?: Pick<Desired, "sources">,
): Plan {
  const { current, spec } = shown;
  const steps = planKeeping(current, current.rules, spec, who);
  return { steps, problems, ...describeParts(shown) };
}

/**
 * The status of a load balancer that works: the hostname alone, or the IP. With the PROXY protocol on a port, traffic
 * from inside the cluster must take the way through the load balancer, too, which the mode says.
 */
function toIngress(
  { hostname, ports }: Pick<Desired, "hostname" | "ports">,
  ip: string,
): readonly LoadBalancerIngress[] {
  if (hostname !== undefined) return [{ hostname }];
  const isProxy = ports.some(({ protocol }) => protocol === "tcp-proxy");
  return [{ ip, ipMode: isProxy ? "Proxy" : "VIP" }];
}
