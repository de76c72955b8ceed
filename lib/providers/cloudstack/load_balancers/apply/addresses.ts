/**
 * Asks about public addresses right before one is taken or released.
 * @module
 */
import * as v from "valibot";
import { decode } from "../../../../cloud_http/decode.ts";
import { ApiError } from "../../session/errors.ts";
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import type { Place } from "../record.ts";
import type { PublicAddress, View } from "../view.ts";
import { type Acting, toProject } from "./acting.ts";

/** Every server allows pages of this size. The first page is enough to choose from. */
const PAGE_SIZE = 20;
const QUERY = { command: "listPublicIpAddresses", key: "publicipaddress" } as const;

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
 * Lists some of the free addresses that this account may take for a place.
 *
 * @param ip Only this one. @default {any}
 * @returns Nothing also if the server or the role of the account shows no free ones
 * @throws {CloudError} when there is no usable answer
 */
export async function listFree(
  { place, ip }: { readonly place: Place; readonly ip?: string | undefined },
  acting: Acting,
): Promise<readonly PublicAddress[]> {
  const zoneId = findZone(acting.store.view, place);
  const params = {
    allocatedonly: "false",
    state: "Free",
    forvirtualnetwork: "true",
    ...(zoneId !== undefined && { zoneid: zoneId }),
    ...(ip !== undefined && { ipaddress: ip }),
    ...toScope(acting),
    ...toPage(1),
  };
  try {
    const shown = await readPage(params, acting);
    return shown.filter((one) => isFree(one) && (ip === undefined || one.ip === ip));
  } catch (error) {
    if (error instanceof ApiError && error.kind === "denied") return [];
    throw error;
  }
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
  const objects = await session.read({ ...QUERY, params, schema: LIST }, signal);
  return objects.flatMap((one) => {
    const decoded = decode(LB_SCHEMAS.address, one);
    return "value" in decoded ? [decoded.value] : [];
  });
}

const LIST = v.nullish(v.array(v.unknown()), []);

function findZone(view: View | undefined, place: Place): string | undefined {
  const networks = [...(view?.networks.values() ?? [])];
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
