/**
 * Takes a free address for a Service, so that no crash can lose it.
 *
 * CloudStack gives an address before it can be tagged. So Landfall chooses a free address, records it on the Service,
 * and asks for exactly that one. A process that starts after a crash finds it by the record.
 * @module
 */
import { RefusedStepError } from "../../../../cloud/capabilities/refused_errors.ts";
import { ApiError } from "../../session/errors.ts";
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import { type AskedAddress, isSamePlace, type Place } from "../record.ts";
import type { ChangeOf } from "../steps.ts";
import type { PublicAddress } from "../view.ts";
import { toWaiting } from "../wanted/problems.ts";
import { toTags } from "../words.ts";
import { type Acting, send, toProject } from "./acting.ts";
import { isFree, isIn, listFree, readAddress } from "./addresses.ts";
import { tag } from "./tag_address.ts";

type Wanted = ChangeOf<"takeAddress">;

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
export async function takeAddress(wanted: Wanted, acting: Acting): Promise<void> {
  const { store, record, owner } = acting;
  const taken = await take(wanted, acting);
  if (taken === "lookAgain") return store.invalidate();
  // The server shows the state from before the job.
  store.putAddress({ ...taken, state: "Allocated" });
  if (!isIn(taken, wanted.place)) store.invalidate();
  const [clusterId] = store.view?.clusterIds ?? [];
  if (clusterId === undefined) return store.invalidate();
  await tag(taken.id, toTags(clusterId, owner), acting);
  await record.keepAddress();
}

async function take(wanted: Wanted, acting: Acting): Promise<PublicAddress | "lookAgain"> {
  const before = await findAskedBefore(wanted, acting);
  if (before === "lookAgain") return before;
  if (before !== undefined) {
    const answer = await ask(before, acting);
    if (!(answer instanceof ApiError)) return answer;
    // The request of an earlier process may have been carried out just now.
    if ((await findAskedBefore(wanted, acting)) === "lookAgain") return "lookAgain";
  }
  const free = await listFree(wanted, acting);
  const others = free.filter(({ id }) => id !== before?.id);
  const choices = choose(others, acting.random).map((one) => toAsked(one, wanted.place, acting));
  const [first = toUnseen(wanted, acting), ...more] = choices;
  let answer = await ask(first, acting);
  for (const choice of more) {
    if (!(answer instanceof ApiError)) return answer;
    answer = await ask(choice, acting);
  }
  if (!(answer instanceof ApiError)) return answer;
  // None of them is ours, and another account may get the last one later.
  await acting.record.keepAddress();
  throw wanted.ip === undefined ? answer : toNotTaken(wanted.ip, answer);
}

/** Says which address it is about: the server only says that there is none. */
function toNotTaken(ip: string, refusal: ApiError): RefusedStepError {
  const advice = "name an address that the account has or that is free, or remove the field";
  const message =
    refusal.code === NO_CAPACITY
      ? `spec.loadBalancerIP: CloudStack has no free public IP ${ip} for this account (error ${NO_CAPACITY}): ${advice}`
      : `spec.loadBalancerIP: public IP ${ip} cannot be taken: ${refusal.message}`;
  return new RefusedStepError(toWaiting("AddressNotUsable", message), refusal);
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
  { place, ip }: Wanted,
  acting: Acting,
): Promise<AskedAddress | "lookAgain" | undefined> {
  const { address } = acting.record.kept;
  const { id } = address ?? {};
  if (address === undefined || id === undefined || !isSamePlace(address.place, place))
    return undefined;
  if (ip !== undefined && ip !== address.ip) return undefined;
  const { addresses, takers } = acting.store.view ?? {};
  const known = addresses?.get(id);
  // While our job runs, an address leads nowhere. Otherwise, the plan decided against it.
  if (known !== undefined)
    return isNowhere(known) && takers?.get(id) !== "others" ? "lookAgain" : undefined;
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
      schema: LB_SCHEMAS.address,
      owner: acting.owner.uid,
      isRetry,
      hooks: { onObject },
    });
  } catch (error) {
    if (hasStarted || !(error instanceof ApiError)) throw error;
    if (TAKEN.has(error.code)) return error;
    // A user may take the address later: it must not count as the Service's then.
    if (isNew && error.kind === "denied") await record.keepAddress();
    throw error;
  }
}

/** A server that ignores which address is asked for gives one that it did not show as free. */
function toChosenByServer(id: string, { id: wanted, ...asked }: AskedAddress): AskedAddress {
  const { place, atMs } = asked;
  return wanted === undefined ? { ...asked, id } : { id, place, atMs, wasFree: false };
}

/** Where CloudStack shows no free address, it chooses. A crash may then leave one that cannot be proven ours. */
function toUnseen({ place, ip }: Wanted, { clock }: Acting): AskedAddress {
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
