/**
 * Takes an address for a Service so that no crash can lose it, tags it, and releases it.
 *
 * CloudStack gives an address before it can be tagged. So Landfall chooses a free address, records it on the Service,
 * and asks for exactly that one. A process that starts after a crash finds it by the record.
 * @module
 */
import * as v from "valibot";
import { toUnusable } from "../../../cloud/address_sharing.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { RefusedStepError } from "../../../cloud/capabilities/refused_errors.ts";
import { ApiError } from "../session/errors.ts";
import { ADDRESSES, FIREWALL_RULES, IDENTIFIED, type Listing, RULES } from "../wire/objects.ts";
import { type AskedAddress, isSamePlace, type Place } from "./record.ts";
import type { ChangeOf } from "./steps.ts";
import type { PublicAddress, Observation } from "./observation.ts";
import { findKeptFor, isTaggedFor, toTags, toWaiting } from "./words.ts";
import { type Acting, send, sendPlain, sendRemoval, toIndexed, toProject } from "./acting.ts";
import { decode } from "../../../cloud_http/decode.ts";
import { explainFree, isLeftBehind } from "./current.ts";

type Desired = ChangeOf<"takeAddress">;

/** How many addresses are asked for in one step. Another account may take each of them first. */
const TRIES_MAX = 4;
/** What the server says if no free address fits what was asked for. */
const NO_CAPACITY = 533;
/** A parameter is not valid, no capacity, in use, a conflict: what the server says of an address that is not free. */
const TAKEN: ReadonlySet<number> = new Set([431, NO_CAPACITY, 536, 537]);

/**
 * Takes an address and tags it.
 *
 * @throws {CloudError} when there is none to take, or CloudStack refuses, or the outcome is not known
 */
export async function takeAddress(desired: Desired, acting: Acting): Promise<void> {
  const { store, record, owner } = acting;
  const taken = await take(desired, acting);
  if (taken === "lookAgain") return store.invalidate();
  // The server shows the state from before the job.
  store.putAddress({ ...taken, state: "Allocated" });
  if (!isIn(taken, desired.place)) store.invalidate();
  const [clusterId] = store.observation?.clusterIds ?? [];
  if (clusterId === undefined) return store.invalidate();
  await tag(taken.id, toTags(clusterId, owner), acting);
  await record.keepAddress();
  // Where CloudStack chooses, it knows nothing of namespaces.
  const refusal = explainFree(store.observation ?? {}, acting, taken.ip);
  if (refusal === undefined) return;
  await releaseAddress({ kind: "releaseAddress", addressId: taken.id }, acting);
  throw toRefused(refusal);
}

async function take(desired: Desired, acting: Acting): Promise<PublicAddress | "lookAgain"> {
  const before = await findAskedBefore(desired, acting);
  if (before === "lookAgain") return before;
  if (before !== undefined) {
    const answer = await ask(before, acting);
    if (!(answer instanceof ApiError)) return answer;
    // The request of an earlier process may have been carried out just now.
    if ((await findAskedBefore(desired, acting)) === "lookAgain") return "lookAgain";
  }
  const free = await listFree(desired, acting);
  const others = free.filter(({ id }) => id !== before?.id);
  const choices = choose(others, acting.random).map((one) => toAsked(one, desired.place, acting));
  const [first = toUnseen(desired, acting), ...more] = choices;
  let answer = await ask(first, acting);
  for (const choice of more) {
    if (!(answer instanceof ApiError)) return answer;
    answer = await ask(choice, acting);
  }
  if (!(answer instanceof ApiError)) return answer;
  // None of them is ours, and another account may get the last one later.
  await acting.record.keepAddress();
  throw desired.ip === undefined ? answer : toNotTaken(desired.ip, answer);
}

/** Says which address it is about: the server only says that there is none. */
function toNotTaken(ip: string, refusal: ApiError): RefusedStepError {
  const advice = "the Service must name an address that the account has or that is free, or none";
  const message =
    refusal.code === NO_CAPACITY
      ? `CloudStack has no free public IP ${ip} for this account (error ${NO_CAPACITY}): ${advice}`
      : `public IP ${ip} cannot be taken: ${refusal.message}`;
  return new RefusedStepError(toWaiting("AddressNotUsable", message), refusal);
}

function toRefused(why: string): RefusedStepError {
  return new RefusedStepError(toUnusable(why), new CloudError("denied", why));
}

/** Some of the addresses, in a random order. */
function choose(free: readonly PublicAddress[], random: () => number): readonly PublicAddress[] {
  const left = [...free];
  const count = Math.min(TRIES_MAX, left.length);
  return Array.from({ length: count }).flatMap(() =>
    left.splice(Math.floor(random() * left.length), 1),
  );
}

/**
 * The address that was recorded and then perhaps never asked for. A request whose answer was lost may be carried out
 * late. To ask for the same address again can give only that one.
 */
async function findAskedBefore(
  { place, ip }: Desired,
  acting: Acting,
): Promise<AskedAddress | "lookAgain" | undefined> {
  const { address } = acting.record.kept;
  const { id } = address ?? {};
  if (address === undefined || id === undefined || !isSamePlace(address.place, place))
    return undefined;
  if (ip !== undefined && ip !== address.ip) return undefined;
  const { addresses, allocatedBy } = acting.store.observation ?? {};
  const known = addresses?.get(id);
  // While our job runs, an address leads nowhere. Otherwise, the plan decided against it.
  if (known !== undefined)
    return isNowhere(known) && allocatedBy?.get(id) !== "others" ? "lookAgain" : undefined;
  const shown = await readAddress(id, acting);
  if (shown === undefined) return undefined;
  if (isFree(shown)) return toAsked(shown, place, acting);
  return isIn(shown, place) || isNowhere(shown) ? "lookAgain" : undefined;
}

/**
 * Records an address, then asks for exactly that one.
 *
 * @returns The refusal if CloudStack says that it is not free
 */
async function ask(asked: AskedAddress, acting: Acting): Promise<PublicAddress | ApiError> {
  const { record } = acting;
  const { address: before } = record.kept;
  const isNew = before?.id !== asked.id || asked.id === undefined;
  // Without a choice, nothing else may say which address an earlier try got.
  const isRetry = before !== undefined && before.id === undefined && asked.id === undefined;
  let hasStarted = false;
  const onObject = async (id: string): Promise<void> => {
    hasStarted = true;
    if (id !== asked.id) await record.keepAddress(toChosenByServer(id, asked));
  };
  await record.keepAddress(asked);
  try {
    return await send(acting, {
      command: "associateIpAddress",
      params: {
        ...toPlaceParam(asked.place),
        ...(asked.ip !== undefined && { ipaddress: asked.ip }),
        ...toProject(acting),
      },
      key: "ipaddress",
      schema: ADDRESSES.schema,
      owner: acting.owner.uid,
      isRetry,
      hooks: { onObject },
    });
  } catch (error) {
    if (hasStarted || !(error instanceof ApiError)) throw error;
    if (TAKEN.has(error.code)) return error;
    // A user may take the address later: it must not count as the Service's then. Without a choice, there is none.
    if (isNew && (error.kind === "denied" || asked.id === undefined)) await record.keepAddress();
    throw error;
  }
}

/** A server that ignores which address is asked for gives one that it did not show as free. */
function toChosenByServer(id: string, { id: desired, ...asked }: AskedAddress): AskedAddress {
  const { place, atMs } = asked;
  return desired === undefined ? { ...asked, id } : { id, place, atMs, wasFree: false };
}

/** Where CloudStack shows no free address, it chooses. A crash may then leave one that cannot be proven ours. */
function toUnseen({ place, ip }: Desired, { clock }: Acting): AskedAddress {
  return { ...(ip !== undefined && { ip }), place, atMs: clock.now(), wasFree: false };
}

function toAsked({ id, ip }: PublicAddress, place: Place, { clock }: Acting): AskedAddress {
  return { id, ip, place, atMs: clock.now(), wasFree: true };
}

function toPlaceParam(place: Place): Readonly<Record<string, string>> {
  return "vpcId" in place ? { vpcid: place.vpcId } : { networkid: place.networkId };
}

function isNowhere({ state, networkId, vpcId }: PublicAddress): boolean {
  return state !== "Allocated" && networkId === undefined && vpcId === undefined;
}

/** Every server allows pages of this size. The first one with an address that the Service may take is enough. */
const PAGE_SIZE = 20;
const PAGES_MAX = 50;

/**
 * Reads one address, free or not.
 *
 * @returns `undefined` if CloudStack does not show it
 * @throws {CloudError} when there is no usable answer
 */
export async function readAddress(id: string, acting: Acting): Promise<PublicAddress | undefined> {
  const params = { id, allocatedonly: "false", ...toScope(acting), ...toPage(1) };
  const shown = await readPage(params, acting);
  return shown.find((one) => one.id === id);
}

/**
 * Lists some of the free addresses that this account may take for a place, and that the operator gives not only to
 * other namespaces.
 *
 * @param ip Only this one. @default {any}
 * @returns Nothing also if the server or the role of the account shows no free ones
 * @throws {CloudError} when there is no usable answer, or the operator gives all to other namespaces
 */
export async function listFree(
  { place, ip }: { readonly place: Place; readonly ip?: string | undefined },
  acting: Acting,
): Promise<readonly PublicAddress[]> {
  const zoneId = findZone(acting.store.observation, place);
  const params = {
    allocatedonly: "false",
    state: "Free",
    forvirtualnetwork: "true",
    ...(zoneId !== undefined && { zoneid: zoneId }),
    ...(ip !== undefined && { ipaddress: ip }),
    ...toScope(acting),
  };
  let refusal: string | undefined;
  try {
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const shown = await readPage({ ...params, ...toPage(page) }, acting);
      const free = shown.filter((one) => isFree(one) && (ip === undefined || one.ip === ip));
      const refusals = free.map((one) =>
        explainFree(acting.store.observation ?? {}, acting, one.ip),
      );
      const own = free.filter((_, at) => refusals[at] === undefined);
      if (own.length > 0) return own;
      if (free.length === 0) break;
      [refusal] = refusals;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.kind === "denied")) throw error;
  }
  if (refusal !== undefined) throw toRefused(refusal);
  return [];
}

/** Whether an address belongs to no account. */
export function isFree({ state, networkId, vpcId }: PublicAddress): boolean {
  return state.toLowerCase() === "free" && networkId === undefined && vpcId === undefined;
}

/** Whether an address serves a place. */
export function isIn({ networkId, vpcId }: PublicAddress, place: Place): boolean {
  return "vpcId" in place ? vpcId === place.vpcId : networkId === place.networkId;
}

/** One page: an address that cannot be read is no choice. */
async function readPage(
  params: Readonly<Record<string, string>>,
  { session, signal }: Acting,
): Promise<readonly PublicAddress[]> {
  const { command, key } = ADDRESSES;
  const objects = await session.read({ command, key, params, schema: LIST }, signal);
  return objects.flatMap((one) => {
    const decoded = decode(ADDRESSES.schema, one);
    return "value" in decoded ? [decoded.value] : [];
  });
}

const LIST = v.nullish(v.array(v.unknown()), []);

function findZone(cloud: Observation | undefined, place: Place): string | undefined {
  const networks = [...(cloud?.networks.values() ?? [])];
  const network = networks.find(({ id, vpcId }) =>
    "vpcId" in place ? vpcId === place.vpcId : id === place.networkId,
  );
  return network?.zoneId;
}

function toScope(acting: Acting): Readonly<Record<string, string>> {
  return { listall: "true", ...toProject(acting) };
}

function toPage(page: number): Readonly<Record<"page" | "pagesize", string>> {
  return { page: String(page), pagesize: String(PAGE_SIZE) };
}

/** Tags an address. The record then need not say that it was asked for. */
export async function tagAddress(
  { addressId, tags, isUnseen }: ChangeOf<"tagAddress">,
  acting: Acting,
): Promise<void> {
  await tag(addressId, tags, acting);
  const { record } = acting;
  if (isUnseen || record.kept.address?.id === addressId) await record.keepAddress();
}

/** Adds tags to an address. CloudStack adds none of them if it has one of the keys already. */
async function tag(
  addressId: string,
  tags: ReadonlyMap<string, string>,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "createTags", {
    resourceids: addressId,
    resourcetype: "PublicIpAddress",
    ...toIndexed("tags", "key", tags),
  });
  const { store } = acting;
  const address = store.observation?.addresses.get(addressId);
  if (address === undefined) return store.invalidate();
  store.putAddress({ ...address, tags: new Map([...address.tags, ...tags]) });
}

/**
 * Releases an address if it is ours, or was left behind by a Service that is gone, and nothing is on it. If not, it
 * releases nothing, and the next observation or the store shows why.
 */
export async function releaseAddress(
  { addressId }: ChangeOf<"releaseAddress">,
  acting: Acting,
): Promise<void> {
  const { store, record } = acting;
  const address = await readAddress(addressId, acting);
  if (address === undefined || !isOurs(address, acting)) return store.invalidate();
  if (address.isSourceNat || address.isStaticNat) return store.putAddress(address);
  const use = await findUse(address, acting);
  if (use === "visible") return store.invalidate();
  if (use !== undefined) return store.putAddress({ ...address, usedBy: use });
  // A Service that was losing its load balancer may be getting one again.
  if (!isOurs(address, acting)) return store.invalidate();
  await sendRemoval(acting, "disassociateIpAddress", addressId);
  store.dropAddress(addressId);
  await record.forgetAddress(address);
}

function isOurs({ tags }: PublicAddress, { store, owner }: Acting): boolean {
  const { observation: cloud } = store;
  if (cloud === undefined || findKeptFor(tags) !== undefined) return false;
  return isTaggedFor(tags, cloud.clusterIds, owner.uid) || isLeftBehind(cloud, tags, owner.uid);
}

/** What is on an address: `visible` if an observation shows it, otherwise in words; `undefined` if nothing is. */
async function findUse(
  { id, hasRules }: PublicAddress,
  acting: Acting,
): Promise<string | undefined> {
  // The server counts rules of every kind.
  if (hasRules === false) return undefined;
  const [rules, firewallRules, forwardings] = await Promise.all([
    count(RULES, { publicipid: id }, acting),
    count(FIREWALL_RULES, { ipaddressid: id }, acting),
    count(FORWARDINGS, { ipaddressid: id }, acting),
  ]);
  if (rules + firewallRules > 0) return "visible";
  if (forwardings > 0)
    return forwardings === 1 ? "a port forwarding" : `${forwardings} port forwardings`;
  return hasRules ? "a rule of another kind" : undefined;
}

const FORWARDINGS = { command: "listPortForwardingRules", key: "portforwardingrule" } as const;

/** @throws {CloudError} also if the list is not whole */
async function count(
  { command, key }: Pick<Listing<unknown>, "command" | "key">,
  params: Readonly<Record<string, string>>,
  acting: Acting,
): Promise<number> {
  const { session, signal } = acting;
  const asked = { listall: "true", ...params, ...toProject(acting) };
  const list = await session.list({ command, key, params: asked, schema: IDENTIFIED }, signal);
  return list.objects.length + list.undecodable.size + (list.gap === undefined ? 0 : 1);
}
