/**
 * Remembers the networks of one account or project: they change rarely.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import type { LoadBalancingApi } from "../../wire/load_balancing_api.ts";
import type { Network, Unreadable } from "../view.ts";

/** What is known about networks. */
interface KnownNetworks {
  readonly networks: ReadonlyMap<string, Network>;
  readonly unreadable: readonly Unreadable[];
}

interface Kept extends KnownNetworks {
  readonly readAtMs: number;
  /** Networks that were wanted: the names of their lists were asked for. */
  readonly wanted: ReadonlySet<string>;
}

/** The networks that are wanted, and how to ask for more. */
interface WantedNetworks {
  /** IDs. */
  readonly wanted: ReadonlySet<string>;
  readonly projectId: string | undefined;
}

const AGE_MS_MAX = 3_600_000;
/** A user may give a tier another ACL list at any time, which lets no client in. Less than the time of a full pass. */
const TIER_AGE_MS_MAX = 540_000;

/**
 * Lists all networks, and again after an hour, or nine minutes if one that is wanted is a tier of a VPC; while one is
 * wanted that is not shown; or after {@linkcode Networks.forget}.
 */
export class Networks {
  readonly #api: Pick<LoadBalancingApi, "listNetworks" | "readAclListName">;
  readonly #clock: Clock;
  #kept: Kept | undefined;

  constructor(api: Pick<LoadBalancingApi, "listNetworks" | "readAclListName">, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /**
   * The networks, with the names of the ACL lists of those that are wanted.
   *
   * @throws {CloudError} when CloudStack does not answer
   */
  async read({ wanted, projectId }: WantedNetworks, signal: AbortSignal): Promise<KnownNetworks> {
    const kept = this.#kept;
    const hasTiers = [...wanted].some((id) => kept?.networks.get(id)?.vpcId !== undefined);
    const ageMsMax = hasTiers ? TIER_AGE_MS_MAX : AGE_MS_MAX;
    const isFresh = kept && this.#clock.monotonic() - kept.readAtMs < ageMsMax;
    if (isFresh && [...wanted].every((id) => isKnown(kept, id))) return kept;
    const readAtMs = this.#clock.monotonic();
    const { objects, unreadable } = await this.#api.listNetworks(projectId, signal);
    const networks = new Map(objects.map((one) => [one.id, one]));
    await this.#addListNames(networks, { wanted, projectId }, signal);
    this.#kept = { networks, unreadable, readAtMs, wanted };
    return this.#kept;
  }

  /** Lists them again the next time. */
  forget(): void {
    this.#kept = undefined;
  }

  /** Old servers show only the ID of the list of a network. */
  async #addListNames(
    networks: Map<string, Network>,
    { wanted, projectId }: WantedNetworks,
    signal: AbortSignal,
  ): Promise<void> {
    const nameless = [...networks.values()].filter(
      ({ id, aclListId, aclListName }) =>
        wanted.has(id) && aclListId !== undefined && aclListName === undefined,
    );
    const listIds = new Set(nameless.flatMap(({ aclListId }) => aclListId ?? []));
    const names = new Map<string, string>();
    const readName = async (listId: string): Promise<void> => {
      const name = await this.#api.readAclListName(listId, projectId, signal);
      if (name !== undefined) names.set(listId, name);
    };
    await Promise.all([...listIds].map(readName));
    for (const network of nameless) {
      const aclListName = names.get(network.aclListId ?? "");
      if (aclListName !== undefined) networks.set(network.id, { ...network, aclListName });
    }
  }
}

/** Whether listing them again would say no more about a network. */
function isKnown({ networks, wanted }: Kept, id: string): boolean {
  const network = networks.get(id);
  // A fault may have hidden it.
  if (network === undefined) return false;
  return network.aclListId === undefined || network.aclListName !== undefined || wanted.has(id);
}
