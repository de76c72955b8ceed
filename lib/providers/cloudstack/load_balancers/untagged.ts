/**
 * Names addresses that Landfall may have taken and not tagged, for `landfall check`.
 * @module
 */
import type { LoadBalancerClaim } from "../../../cloud/capabilities/load_balancers.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { Clock } from "../../../core/clock.ts";
import type { CloudStackSession } from "../session/session.ts";
import type { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { RULES } from "../wire/objects.ts";
import type { PublicAddress } from "./observation.ts";
import { isNamedBy } from "./ownership.ts";
import { parseRecord, RecordSigner, SIGNING_PURPOSE } from "./record.ts";
import { describeOwner } from "./scene.ts";
import { readTakers } from "./takers.ts";

/** What {@linkcode inspectUntagged} asks with. */
interface UntaggedOptions {
  readonly session: Pick<CloudStackSession, "deriveKey" | "isOwnKey" | "list">;
  readonly api: Pick<LoadBalancingApi, "listAll">;
  readonly clock: Clock;
  readonly claims: readonly LoadBalancerClaim[];
  readonly projectId: string | undefined;
}

/** How long CloudStack keeps events, unless it is set otherwise. */
const EVENTS_MS = 15 * 86_400_000;

/**
 * Names the addresses without tags that the record of a Service names, and those that our user took and nothing uses.
 *
 * @throws {CloudError} when CloudStack cannot answer
 */
export async function inspectUntagged(
  addresses: readonly PublicAddress[],
  options: UntaggedOptions,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { session, claims } = options;
  const signer = new RecordSigner(await session.deriveKey(SIGNING_PURPOSE));
  const untagged = addresses.filter(({ tags }) => tags.size === 0);
  const named = claims.flatMap(({ record, owner }) => {
    const asked = parseRecord(record, owner.uid, signer)?.address;
    const why = `Landfall was taking it for ${describeOwner(owner)}, whose record names it`;
    return untagged.filter((one) => asked && isNamedBy(asked, one)).map((one) => ({ one, why }));
  });
  const rest = untagged.filter((address) => named.every(({ one }) => one !== address));
  const taken = await listTaken(rest, options, signal);
  const why = "nothing uses it, and the API user of Landfall took it";
  return [...named, ...taken.map((one) => ({ one, why }))].map(toFinding);
}

async function listTaken(
  addresses: readonly PublicAddress[],
  { session, api, clock, projectId }: UntaggedOptions,
  signal: AbortSignal,
): Promise<readonly PublicAddress[]> {
  const idle = addresses.filter(
    ({ isSourceNat, isStaticNat, hasRules }) => !isSourceNat && !isStaticNat && hasRules !== true,
  );
  if (idle.length === 0) return [];
  const asked = new Map(idle.map(({ id }) => [id, clock.now() - EVENTS_MS]));
  const takers = await readTakers({ session, projectId, asked }, signal);
  const own = idle.filter(({ id }) => takers?.get(id) === "us");
  if (own.length === 0) return [];
  const { objects: rules } = await api.listAll(RULES, projectId, signal);
  return own.filter(({ id }) => rules.every(({ addressId }) => addressId !== id));
}

function toFinding({ one, why }: { readonly one: PublicAddress; readonly why: string }): Finding {
  const { ip, id } = one;
  const message = `public IP ${ip} (${id}) carries no tag: ${why}`;
  const advice = `if nothing needs it, release it: cmk disassociate ipaddress id=${id}`;
  return { level: "warning", code: "loadBalancerUntagged", message, advice };
}
