/**
 * Two Nodes that claim one machine.
 * @module
 */
import type { Instance, Presence, Provider } from "../../cloud/provider.ts";
import { swapUuid } from "../../core/text/uuid.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isUninitialized } from "../identity.ts";

/** A Node that has, or may have, the machine of another. */
export interface Rival {
  readonly name: string;
  /** Whether it is known to be the same machine; otherwise it is not known which one the rival has. */
  readonly isCertain: boolean;
  /** Whether the rival is another controller's, so that its machine will never be known here. @default {false} */
  readonly isForeign?: true;
}

/** What is known now of the machine of a Node, by the Node's name; `undefined` when there is no such Node. */
export type Explain = (name: string) => Presence | undefined;

/**
 * Which Nodes claim which machine, by provider ID and by system UUID: thousands of Nodes that join at once are each
 * compared with all others, so a search through all of them would take too long.
 *
 * A system UUID in either byte order may be that of two machines. So of Nodes that report one, those are rivals that
 * were not resolved to different machines.
 */
export class Claims {
  readonly #provider: Pick<Provider, "toInstanceId">;
  readonly #explain: Explain;
  /** Names of the Nodes that make a claim. */
  readonly #claimants = new Map<string, readonly string[]>();
  /** What each Node claims, by its name. */
  readonly #claims = new Map<string, readonly string[]>();

  /**
   * @param provider Tells when two provider IDs name one machine
   * @param explain Tells which machine a rival has
   */
  constructor(provider: Pick<Provider, "toInstanceId">, explain: Explain) {
    this.#provider = provider;
    this.#explain = explain;
  }

  /** The claims of these Nodes. */
  static of(
    nodes: Iterable<Node>,
    provider: Pick<Provider, "toInstanceId">,
    explain: Explain,
  ): Claims {
    const claims = new Claims(provider, explain);
    for (const node of nodes) claims.note(node.metadata.name, node);
    return claims;
  }

  /**
   * Takes in a Node that is new, changed or gone.
   *
   * @param node Absent when it is gone
   */
  note(name: string, node: Node | undefined): void {
    const before = this.#claims.get(name) ?? [];
    const after = node === undefined ? [] : this.#listClaims(node);
    if (before.length === after.length && before.every((claim, at) => claim === after[at])) return;
    for (const claim of before) {
      const others = this.#listClaimants(claim).filter((one) => one !== name);
      if (others.length > 0) this.#claimants.set(claim, others);
      else this.#claimants.delete(claim);
    }
    for (const claim of after) this.#claimants.set(claim, [...this.#listClaimants(claim), name]);
    if (after.length > 0) this.#claims.set(name, after);
    else this.#claims.delete(name);
  }

  /**
   * Finds another Node whose provider ID names the same machine, or, for a Node without one, that reports the same
   * system UUID in either byte order and was not resolved to another machine: then it is not known which of the two the
   * machine is. Machines that were cloned below the cloud, and Nodes that were renamed, end like this.
   */
  findRival(node: Node, instance: Instance): Rival | undefined {
    const { name } = node.metadata;
    const isOther = (one: string): boolean => one !== name;
    const ownProviderId = node.spec?.providerID ?? "";
    const machine = this.#toProviderIdClaim(ownProviderId || instance.providerId);
    const named = this.#listClaimants(machine).find(isOther);
    if (named !== undefined) return { name: named, isCertain: true };
    // A provider ID says which machine it is, even if that machine reports another system UUID.
    if (ownProviderId !== "") return undefined;
    for (const other of this.#listClaimants(toSystemUuidClaim(node)).filter(isOther)) {
      const presence = this.#explain(other);
      if (presence?.kind === "foreign") return { name: other, isCertain: false, isForeign: true };
      if (presence?.kind !== "present") return { name: other, isCertain: false };
      if (presence.instance.id === instance.id) return { name: other, isCertain: true };
    }
    return undefined;
  }

  /** The presence of a Node that waits for its cloud: if two Nodes claim a machine, neither gets it. */
  refuseRival(node: Node, presence: Presence): Presence {
    if (presence.kind !== "present" || !isUninitialized(node)) return presence;
    const rival = this.findRival(node, presence.instance);
    return rival === undefined ? presence : toRivalPresence(presence.instance, rival);
  }

  #listClaims(node: Node): readonly string[] {
    const providerId = node.spec?.providerID ?? "";
    const byProviderId = providerId === "" ? "" : this.#toProviderIdClaim(providerId);
    return [byProviderId, toSystemUuidClaim(node)].filter((claim) => claim !== "");
  }

  /** The same however the provider ID of an instance is written; the text itself when it is none of this cloud's. */
  #toProviderIdClaim(providerId: string): string {
    const id = this.#provider.toInstanceId?.(providerId);
    return id === undefined ? providerId : `instance ${id}`;
  }

  #listClaimants(claim: string): readonly string[] {
    return this.#claimants.get(claim) ?? [];
  }
}

function toRivalPresence({ name, providerId }: Instance, rival: Rival): Presence {
  const advice =
    "delete the Node that does not use this machine any more, or give each machine its own system UUID and " +
    "--provider-id";
  const what = `Instance "${name}" (${providerId}) ${describeClaim(rival)}`;
  return { kind: "unknown", reason: "ambiguous", message: `${what} ${advice}` };
}

/** Up to what a person may do about it. */
function describeClaim({ name, isCertain, isForeign }: Rival): string {
  if (isCertain) return `is also claimed by Node "${name}":`;
  const what = `may also be the machine of Node "${name}", which reports the same system UUID`;
  return isForeign
    ? `${what} and belongs to another controller, so Landfall cannot find out which Node is right:`
    : `${what} and whose machine is unknown. Landfall waits until it is known. If it stays unknown,`;
}

/** Unlike every provider ID, and the same in either byte order; empty when the Node reports none. */
function toSystemUuidClaim(node: Node): string {
  const uuid = (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase();
  const swapped = swapUuid(uuid);
  return uuid === "" ? "" : `system UUID ${uuid < swapped ? uuid : swapped}`;
}
