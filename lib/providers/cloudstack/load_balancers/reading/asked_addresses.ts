/**
 * Addresses that a record names, and that no tag says anything about. Pure.
 * @module
 */
import type { LoadBalancerClaim } from "../../../../cloud/capabilities/load_balancers.ts";
import { type AskedAddress, parseRecord } from "../record.ts";
import type { RecordSigner } from "../record_signer.ts";
import type { PublicAddress } from "../view.ts";

/**
 * Lists the addresses without tags that the records of Services name. A record may be older than what happened to its
 * address since, so CloudStack is asked who took it.
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
    const address = findNamed(named, addresses);
    if (address === undefined || address.tags.size > 0) continue;
    asked.set(address.id, Math.min(named.atMs, asked.get(address.id) ?? Infinity));
  }
  return asked;
}

function findNamed(
  { id, ip }: AskedAddress,
  addresses: ReadonlyMap<string, PublicAddress>,
): PublicAddress | undefined {
  if (id !== undefined) return addresses.get(id);
  if (ip === undefined) return undefined;
  return addresses.values().find((one) => one.ip === ip);
}
