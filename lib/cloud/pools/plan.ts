/**
 * Plans which addresses a Service has.
 * @module
 */
import { isHostAddress, parseIp } from "../../core/net/ip.ts";
import { quote } from "../../core/text/printable.ts";
import { checkWord } from "../address_sharing.ts";
import type {
  LoadBalancerClaim,
  LoadBalancerIngress,
  LoadBalancerObservation,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancerProblem,
  LoadBalancerSpec,
  LoadBalancerStep,
} from "../capabilities/load_balancers.ts";
import { type Choice, chooseAddress, listConflicts } from "./choice.ts";
import { type Allocations, listShown } from "./allocations.ts";
import { FAMILIES, type Family, toFamily } from "./pool.ts";
import { toNotice, toWaiting } from "./problems.ts";
import { formatRecord, parseRecord } from "./record.ts";
import type { Announcer } from "./settings.ts";
import { type Asked, asksForDhcp, namesOnly, parseRequest, type PoolRequest } from "./request.ts";
import {
  ADDRESS_POOL,
  KUBE_VIP_IGNORE,
  KUBE_VIP_IPS,
  LOAD_BALANCER_IPS,
  SHARED_ADDRESS,
} from "./words.ts";

/** Reserves addresses for a Service in this process. */
export interface PoolStep extends LoadBalancerStep {
  readonly claim: LoadBalancerClaim;
  readonly addresses: readonly string[];
}

/** One look: the index, and the settings. It shows what this process reserves from then on, too. */
export interface PoolView extends LoadBalancerObservation {
  readonly allocations: Allocations;
  readonly announce: Announcer;
}

/**
 * Plans for a Service that asks for addresses. Pure.
 *
 * It first reserves them in memory. The status and the record follow together, in one write. Before it, no program has
 * seen the addresses, and a crash gives them back.
 */
export function planAddresses(view: PoolView, spec: LoadBalancerSpec): LoadBalancerPlan<PoolStep> {
  const { allocations, announce } = view;
  if (announce === "kubeVip") {
    if (spec.annotations[KUBE_VIP_IGNORE] === "true") return planIgnored(view, spec);
    if (asksForDhcp(spec)) return planDhcp(view, spec);
  }
  const request = parseRequest(spec, announce === "kubeVip");
  const families = listFamilies(spec);
  const invalid = request.problem ?? findStrayRequest(request, families);
  if (invalid !== undefined) {
    const problems = [toWaiting("AddressWishInvalid", invalid)];
    const parts = listParts({ allocations, claim: spec, wanted: "unknown" });
    return { steps: [], problems, parts, ...planHeld(view, spec) };
  }
  const choices = families.map((family) => chooseAddress({ allocations, spec, request, family }));
  const addresses = choices.flatMap(({ address }) => address ?? []);
  const problems = [
    ...checkWord(spec),
    ...listProblems(spec, choices),
    ...listIgnored(allocations, request, addresses),
  ];
  const wanted = new Map(
    families.map((family, at) => [family, choices[at]?.address ?? request.addresses.get(family)]),
  );
  const parts = listParts({ allocations, claim: spec, wanted });
  if (problems.some(({ isWaiting = true }) => isWaiting)) {
    return { steps: listNotes(allocations, spec), problems, parts, ...planHeld(view, spec) };
  }
  if (!isReserved(allocations, spec, addresses)) {
    const summary = `reserve ${addresses.join(" and ")}`;
    return { steps: [{ summary, claim: spec, addresses }], problems, parts };
  }
  const record = formatRecord({
    addresses,
    // What MetalLB is asked for counts once.
    ...(request.pool !== undefined &&
      request.poolSource === ADDRESS_POOL && { pool: request.pool }),
  });
  const annotations = announce === "kubeVip" ? { [KUBE_VIP_IPS]: addresses.join(",") } : undefined;
  const ingress = addresses.map((ip): LoadBalancerIngress => ({ ip, ipMode: "VIP" }));
  return { steps: [], problems, ingress, record, parts, ...(annotations && { annotations }) };
}

/**
 * Plans for a Service that must wait: its annotation and its record name no address of another Service. What it was
 * given stays. Pure.
 */
export function planHeld(
  { allocations, announce }: PoolView,
  claim: LoadBalancerClaim,
): Pick<LoadBalancerPlan, "annotations" | "record"> {
  const { uid } = claim.owner;
  const isOwn = (address: string): boolean => !allocations.isDisputed(uid, address);
  const reserved = allocations.listReserved(uid);
  const own = (reserved.length > 0 ? reserved : listShown(claim)).filter(isOwn);
  const record = parseRecord(claim.record);
  const kept = record.addresses.filter(isOwn);
  const isAnnounced = announce === "kubeVip" && namesAddress(claim.annotations[KUBE_VIP_IPS]);
  return {
    ...(isAnnounced && { annotations: { [KUBE_VIP_IPS]: own.join(",") || undefined } }),
    ...(kept.length < record.addresses.length && {
      record: formatRecord({ ...record, addresses: kept }),
    }),
  };
}

/** Lets the index know a status that is newer than the look, so that the plans of other Services see it at once. */
function listNotes(allocations: Allocations, claim: LoadBalancerClaim): PoolStep[] {
  const { uid } = claim.owner;
  const unknown = listShown(claim).filter((one) => !allocations.has(uid, one));
  if (unknown.length === 0) return [];
  const summary = `take note of ${unknown.join(" and ")}`;
  return [{ summary, claim, addresses: allocations.listReserved(uid) }];
}

/** Whether there is an address in the text. `0.0.0.0` is none: with it, kube-vip asks a DHCP server. */
function namesAddress(text = ""): boolean {
  return text.split(",").some((part) => {
    const address = parseIp(part)?.text;
    return address !== undefined && isHostAddress(address);
  });
}

/** Whether the index knows these addresses of a Service, and reserves no others for it. */
function isReserved(
  allocations: Allocations,
  { owner }: LoadBalancerSpec,
  addresses: readonly string[],
): boolean {
  return (
    addresses.every((one) => allocations.has(owner.uid, one)) &&
    allocations.listReserved(owner.uid).every((one) => addresses.includes(one))
  );
}

/** Plans for a Service that kube-vip leaves alone: it gets no address, and keeps the one that its status shows. */
function planIgnored(
  { allocations }: PoolView,
  spec: LoadBalancerSpec,
): LoadBalancerPlan<PoolStep> {
  const shown = listShown(spec).join(" and ");
  const [what, advice] =
    shown === ""
      ? ["the Service gets no address, which kube-vip would not announce", "get one"]
      : [`kube-vip does not announce ${shown}, which the Service keeps`, "have it announced"];
  const message = `${KUBE_VIP_IGNORE} is true, so ${what}: remove the annotation to ${advice}`;
  const problem = toNotice("AddressNotAnnounced", message);
  const parts = listParts({ allocations, claim: spec, wanted: "unknown" });
  return { steps: [], problems: [problem], parts };
}

/**
 * Plans for a Service whose address kube-vip gets from a DHCP server, and writes into the status. What Landfall gave it
 * goes.
 */
function planDhcp({ allocations }: PoolView, spec: LoadBalancerSpec): LoadBalancerPlan<PoolStep> {
  const reserved = allocations.listReserved(spec.owner.uid);
  const recorded = parseRecord(spec.record).addresses;
  const given = new Set([...reserved, ...recorded]);
  const isGiven = (one: LoadBalancerIngress): boolean =>
    "ip" in one && given.has(parseIp(one.ip)?.text ?? "");
  const shown = listShown(spec).filter((one) => !given.has(one));
  const summary = `give back ${reserved.join(" and ")}`;
  const steps: PoolStep[] =
    reserved.length > 0 ? [{ summary, claim: spec, addresses: [] }] : listNotes(allocations, spec);
  return {
    steps,
    problems: shown.flatMap((one) => listConflicts({ allocations, spec }, one)),
    ingress: spec.ingress.filter((one) => !isGiven(one)),
    parts: listParts({ allocations, claim: spec, wanted: "unknown" }),
    // kube-vip reads its annotation first.
    ...(namesAddress(spec.annotations[KUBE_VIP_IPS]) && {
      annotations: { [KUBE_VIP_IPS]: undefined },
    }),
    ...(recorded.length > 0 && { record: formatRecord({ addresses: [] }) }),
  };
}

/** What a Service asks MetalLB for, and does not have. */
function listIgnored(
  { pools }: Allocations,
  request: PoolRequest,
  addresses: readonly string[],
): LoadBalancerProblem[] {
  const { ips, pool, key } = request.metalLb;
  const own = addresses.flatMap((one) => pools.find(one) ?? []);
  const closed = own.find(({ isShareable }) => !isShareable);
  const move = "the Service has an address; to move it, set";
  const noKey =
    request.sharedKey === undefined
      ? `it is no label value; set ${SHARED_ADDRESS}`
      : closed && `the pool ${closed.name} is not shareable`;
  const counting = request.addresses.size > 0 ? request.source : undefined;
  const countingPool = request.pool === undefined ? undefined : request.poolSource;
  const [firstKey] = key;
  const countingKey = request.needsShareable ? SHARED_ADDRESS : firstKey?.source;
  const hasPool = ({ text }: Asked): boolean =>
    text === request.pool || own.some(({ name }) => name === text);
  return [
    ...listLosers(ips, counting, `${move} ${LOAD_BALANCER_IPS}`, (one) =>
      namesOnly(one, addresses),
    ),
    ...listLosers(pool, countingPool, `${move} ${ADDRESS_POOL}`, hasPool),
    ...(firstKey && noKey !== undefined && !request.needsShareable
      ? [toIgnored(firstKey, noKey)]
      : []),
    ...listLosers(key, countingKey, "", ({ text }) => text === request.sharedKey),
  ];
}

/**
 * Those of MetalLB's annotations that do not count: another one comes first, or the Service has an address.
 *
 * @param counting The one that counts. Absent: none
 */
function listLosers(
  asked: readonly Asked[],
  counting: string | undefined,
  late: string,
  isGiven: (one: Asked) => boolean,
): LoadBalancerProblem[] {
  const first = counting ?? asked[0]?.source;
  return asked.flatMap((one) => {
    if (one.source === counting || isGiven(one)) return [];
    return toIgnored(one, one.source === first ? late : `${first} counts; remove one of the two`);
  });
}

function toIgnored({ source, text }: Asked, why: string): LoadBalancerProblem {
  return toNotice("AddressWishIgnored", `Landfall ignores ${source} ${quote(text)}: ${why}`);
}

/** Plans for a Service that needs no addresses any more: what its status and its record hold is free without them. */
export function planRelease(
  { allocations, announce }: PoolView,
  claim: LoadBalancerClaim,
): LoadBalancerPlan<PoolStep> {
  const annotations = announce === "kubeVip" ? { [KUBE_VIP_IPS]: undefined } : undefined;
  const parts = listParts({ allocations, claim, wanted: new Map() });
  return { steps: [], problems: [], ingress: [], parts, ...(annotations && { annotations }) };
}

function listFamilies({ ipFamilies, ipFamilyPolicy }: LoadBalancerSpec): Family[] {
  const families = ipFamilies.map((one): Family => (one === "IPv6" ? 6 : 4));
  return ipFamilyPolicy === "SingleStack" ? families.slice(0, 1) : families;
}

/** A request for an address of a family that the Service does not have. */
function findStrayRequest(
  { addresses, source }: PoolRequest,
  families: readonly Family[],
): string | undefined {
  for (const [family, address] of addresses) {
    if (families.includes(family)) continue;
    return `${source} asks for ${address}, but the Service has no IPv${family}: see its ipFamilies`;
  }
  return undefined;
}

/** With `PreferDualStack`, one address is enough. */
function listProblems(
  { ipFamilyPolicy }: LoadBalancerSpec,
  choices: readonly Choice[],
): LoadBalancerPlan["problems"] {
  const isOneEnough = ipFamilyPolicy === "PreferDualStack";
  const hasOne = choices.some(({ address }) => address !== undefined);
  return choices.flatMap(({ problems, isOutOfAddresses = false }) => {
    if (!isOneEnough || !hasOne || !isOutOfAddresses) return problems;
    return problems.flatMap(({ reason, message }) =>
      // A family without pools is no problem: the policy asks for what there is.
      reason === "AddressPoolExhausted" ? [toNotice(reason, message)] : [],
    );
  });
}

/**
 * The address of each family, and its pool.
 *
 * @param options.wanted By family. `undefined`: it is not known what the Service can get; absent: nothing
 */
function listParts({
  allocations,
  claim,
  wanted,
}: {
  readonly allocations: Allocations;
  readonly claim: LoadBalancerClaim;
  readonly wanted: ReadonlyMap<Family, string | undefined> | "unknown";
}): LoadBalancerPart[] {
  const shown = listShown(claim);
  const toPool = (address: string): string => allocations.pools.find(address)?.name ?? "none";
  return FAMILIES.flatMap((family): LoadBalancerPart[] => {
    const want = wanted === "unknown" ? undefined : wanted.get(family);
    const isUndecided = want === undefined && (wanted === "unknown" || wanted.has(family));
    const have = shown.filter((one) => toFamily(one) === family);
    if (want === undefined && have.length === 0) return [];
    const toPart = (kind: string, toText: (address: string) => string): LoadBalancerPart => ({
      kind,
      name: `IPv${family}`,
      ...(want !== undefined && { wanted: toText(want) }),
      ...(have.length > 0 && { actual: have.map(toText).join(", ") }),
      ...(isUndecided && { isUndecided }),
    });
    return [toPart("address", (one) => one), toPart("pool", toPool)];
  });
}
