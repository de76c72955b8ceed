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
import { findGate, type Gate, isGate, toNoRuleLists } from "./gate.ts";
import {
  explainCompany,
  inPart,
  isEnding,
  isNamed,
  isOwn,
  isShown,
  listOwnRules,
  type Scene,
  toGatePort,
  toPart,
  toScene,
  toStep,
} from "./scene.ts";
import {
  checkAsked,
  checkPending,
  checkUnsigned,
  findDoubtful,
  isOwnOrProven,
  listAddresses,
  mayTag,
  planNaming,
  tagProven,
  toDoubt,
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
export function plan(view: Observation, spec: LoadBalancerSpec): Plan {
  const scene = toScene(view, spec);
  const { asked, wanted, clients, problems: ownProblems } = toDesired(spec);
  const shown: PartsSite = { scene, spec, asked, clients };
  const waiting = toAwaiting(scene);
  if (waiting !== undefined) return { steps: [waiting], problems: [], ...describeParts(shown) };
  const unreadable = findUnreadable(scene, new Set(listAddresses(scene).map(({ id }) => id)));
  if (wanted === undefined || unreadable.length > 0) {
    const who = unreadable.length > 0 ? undefined : clients;
    return keepServing(shown, [...ownProblems, ...unreadable], who);
  }
  const choice = chooseAddress(scene, spec);
  const place = checkPlace(scene, wanted, choice);
  const problems = [...ownProblems, ...choice.problems, ...place.problems];
  const { address, network, take } = choice;
  const chosen = { ...shown, address, network };
  if (network === undefined || place.gate === undefined)
    return keepServing(chosen, problems, wanted);
  if (address === undefined) {
    const kept = keepServing(chosen, problems, wanted);
    if (take === undefined) return kept;
    return { ...kept, steps: [...kept.steps, ...tagProven(scene), take] };
  }
  const sticky = checkStickiness(wanted, network);
  const site: Site = {
    scene,
    address,
    network,
    gate: place.gate,
    wanted: sticky.length > 0 ? { ...wanted, stickiness: "refused" } : wanted,
    backends: spec.backends,
    ports: spec.ports,
    isOwn: isOwnOrProven(scene, address),
    isNeeded: toNeed(wanted, place.gate),
  };
  const own = [...problems, ...sticky];
  const { refusal } = choice;
  if (refusal === undefined) {
    const company = explainCompany(view, spec, address);
    if (company !== undefined) own.push(toUnsharedNotice(company, "both keep the address"));
    return { ...planSite(site, spec, own), ...describeParts(chosen) };
  }
  // What goes with the address is not made again.
  if (isEnding(scene.view, address))
    return { steps: [], problems: [...own, toUnusable(refusal)], ...describeParts(chosen) };
  // An older version let it in. It keeps what it has, and gets nothing more.
  const whole = planSite(site, spec, [...own, toUnsharedNotice(refusal)]);
  const makesRules = whole.steps.some(({ change }) => change.kind === "createRule");
  if (makesRules) return keepServing(chosen, [...problems, toUnusable(refusal)], wanted);
  return { ...whole, ...describeParts(chosen) };
}

function planSite(
  site: Site,
  spec: LoadBalancerSpec,
  own: readonly LoadBalancerProblem[],
): Omit<Plan, "parts"> {
  const { scene, wanted, address, network, backends } = site;
  const ports = wanted.ports.map((port) => planPort(site, port));
  const keeping = [...ports.flatMap((one) => one.keeping), ...planClosingOfAll(site)];
  const problems = [
    ...own,
    ...findDoubtful(scene)
      .filter(({ id }) => id !== address.id)
      .map(toDoubt),
    ...checkUnsigned(scene),
    ...checkBackends(scene, network, backends),
    ...ports.flatMap((one) => one.problems),
  ];
  const tagging =
    !isOwn(scene, address) && mayTag(scene, address) ? [toTagging(scene, address)] : [];
  // What the record names already goes first.
  const naming = scene.record?.shared === undefined ? planNaming(scene, address) : [];
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
      ingress: toIngress(wanted, address.ip),
      annotations: toAssociation(scene, address),
    }),
  };
}

/**
 * The note that version 1.x of the Go provider reads: it releases the address of `spec.loadBalancerIP` with the
 * Service. It is written for an address that tags prove to be the Service's and that must go with it. It goes before
 * the Service moves from such an address to another one. Any other note is the user's.
 */
function toAssociation(scene: Scene, address: PublicAddress): NonNullable<Plan["annotations"]> {
  const { claim } = scene;
  const isKept = keepsAddress(claim.annotations) || findKeptFor(address.tags) !== undefined;
  if (isOwn(scene, address) && !isKept)
    return claim.address === address.ip ? { [ANNOTATIONS.isAssociated]: "true" } : {};
  const isLeaving = listAddresses(scene).some((one) => isOwn(scene, one));
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
  const { scene, wanted, address, isNeeded } = site;
  const steps = listObsolete(site).flatMap((one) => inPart(toPart(one), [toDeletion(scene, one)]));
  const others = listAddresses(scene).filter(({ id }) => id !== address.id);
  const isHeld = others.length > 0 && (!works || others.some(({ ip }) => isShown(scene.claim, ip)));
  if (isHeld) {
    const rules = others.flatMap(({ id }) => listOwnRules(scene, id));
    const kept = planKeeping(scene, rules, spec, wanted);
    const isUsed = (item: AclItem): boolean =>
      rules.some((rule) => isExactly(item, toGatePort(rule)));
    const all = withItems(scene, steps, (item) => isNeeded(item) || isUsed(item));
    return { keeping: kept, steps: all, problems: [], isHeld };
  }
  const moves = others.map((one) => planAddressRemoval(scene, one, isNeeded));
  return {
    keeping: [],
    steps: withItems(scene, [...steps, ...moves.flatMap((one) => one.steps)], isNeeded),
    problems: moves.flatMap((one) => one.problems),
    isHeld,
  };
}

/** The rules of ports that the Service does not ask for any more. */
function listObsolete({ scene, wanted, address }: Site): readonly Rule[] {
  const ports = new Set(wanted.ports.map(({ publicPort }) => publicPort));
  return listOwnRules(scene, address.id).filter((one) => !ports.has(one.publicPort));
}

/** Keeps all clients out of those ports. The rules themselves go last. */
function planClosingOfAll(site: Site): readonly Step[] {
  return listObsolete(site).flatMap((one) =>
    inPart(toPart(one), planClosing(site.scene, one, site.isNeeded)),
  );
}

/** Plans to remove a record that says nothing any more: the tags of the address are the proof from now on. */
function planRecord({ scene, address }: Site): readonly Step[] {
  if (scene.claim.record === undefined) return [];
  const isTagged = isOwn(scene, address);
  if (scene.record?.address !== undefined && !isTagged) return [];
  if (scene.record?.shared === address.ip && !isTagged && !isNamed(scene, address)) return [];
  if (checkPending(scene).length + checkAsked(scene).length > 0) return [];
  return [toStep(scene, "remove the record", { kind: "forgetRecord" })];
}

interface PlaceCheck {
  readonly gate?: Gate;
  readonly problems: readonly LoadBalancerProblem[];
}

/** Checks what the network must offer, before anything is taken or made. */
function checkPlace({ view }: Scene, wanted: Desired, { network }: AddressChoice): PlaceCheck {
  if (network === undefined) return { problems: [] };
  const gate = findGate(view, network);
  if (!isGate(gate)) return { problems: [gate] };
  const problems = checkOffer(network, wanted);
  if (gate.kind === "rule" && wanted.sources !== undefined && !hasRuleLists(view)) {
    problems.push(toNoRuleLists(`the network ${network.name} (${network.id})`));
  }
  return problems.length > 0 ? { problems } : { gate, problems };
}

function checkOffer(
  { name, id, protocols, algorithms }: Network,
  wanted: Desired,
): LoadBalancerProblem[] {
  const where = `the network ${name} (${id})`;
  const missing = wanted.ports.filter(({ protocol }) => protocols?.has(protocol) === false);
  const problems = missing.map(({ protocol, publicPort }) =>
    toWaiting(
      "UnsupportedService",
      `port ${publicPort}: ${where} does not offer the protocol ${protocol}`,
    ),
  );
  if (algorithms?.has(wanted.algorithm) !== false) return problems;
  const message = `${where} does not offer the algorithm ${wanted.algorithm}`;
  return [...problems, toWaiting("UnsupportedService", message)];
}

function toNeed({ ports }: Desired, gate: Gate): (item: AclItem) => boolean {
  if (gate.kind !== "acl") return () => false;
  return (item) =>
    item.listId === gate.listId && isAllowing(item) && ports.some((port) => isExactly(item, port));
}

/** Leaves the rules that are there as they are, except for what {@linkcode planKeeping} does. */
function keepServing(
  shown: PartsSite,
  problems: readonly LoadBalancerProblem[],
  who?: Pick<Desired, "sources">,
): Plan {
  const { scene, spec } = shown;
  const steps = planKeeping(scene, scene.rules, spec, who);
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
