/**
 * Finds Nodes that claim the same machine.
 * @module
 */
import type { Instance } from "../../cloud/instance.ts";
import type { Presence, Provider } from "../../cloud/provider.ts";
import { Claims } from "../../core/maps.ts";
import { swapUuid } from "../../core/text/values.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isUninitialized } from "../identity.ts";

/** A Node that has, or may have, the machine of another Node. */
interface Rival {
  readonly name: string;
  /** Whether both certainly have the same machine. Otherwise the machine of the rival is not known. */
  readonly isCertain: boolean;
  /** Whether the rival belongs to another controller, so that Landfall never learns its machine. @default {false} */
  readonly isForeign?: true;
}

/** Returns what is known now about the machine of a Node, by the Node's name; `undefined` if there is no such Node. */
type Explain = (name: string) => Presence | undefined;

/**
 * An index of which Nodes claim which machine, by provider ID or name, and by system UUID.
 *
 * Two machines may have system UUIDs that are equal in either byte order. So Nodes that report the same system UUID are
 * rivals, unless they were resolved to different machines.
 */
export class MachineClaims {
  readonly #provider: Pick<Provider, "toInstanceId">;
  readonly #explain: Explain;
  readonly #claims = new Claims();

  /**
   * @param provider Says whether two provider IDs name the same machine
   * @param explain Says which machine a rival has
   */
  constructor(provider: Pick<Provider, "toInstanceId">, explain: Explain) {
    this.#provider = provider;
    this.#explain = explain;
  }

  /** Creates the index for these Nodes. */
  static of(
    nodes: Iterable<Node>,
    provider: Pick<Provider, "toInstanceId">,
    explain: Explain,
  ): MachineClaims {
    const claims = new MachineClaims(provider, explain);
    for (const node of nodes) claims.note(node.metadata.name, node);
    return claims;
  }

  /**
   * Updates the index for a Node that is new, changed or gone.
   *
   * @param node Absent if it is gone
   */
  note(name: string, node: Node | undefined): void {
    this.#claims.replace(name, node === undefined ? [] : this.#listClaims(node));
  }

  /**
   * Finds another Node whose provider ID names the same machine. For a Node without a provider ID, also finds a Node
   * that reports the same system UUID in either byte order and was not resolved to another machine: Landfall then
   * cannot know which Node the machine belongs to. This happens if machines were cloned below the cloud, or Nodes were
   * renamed.
   *
   * @param ownProviderId The provider ID of the Node, if it names a machine; else empty
   */
  findRival(
    node: Node,
    instance: Instance,
    ownProviderId: string = node.spec?.providerID ?? "",
  ): Rival | undefined {
    const { name } = node.metadata;
    const machine = this.#toProviderIdClaim(ownProviderId || instance.providerId);
    const [named] = this.#claims.others(machine, name);
    if (named !== undefined) return { name: named, isCertain: true };
    // The provider ID names the machine, even if that machine reports another system UUID.
    if (ownProviderId !== "") return undefined;
    for (const other of this.#claims.others(toSystemUuidClaim(node), name)) {
      const presence = this.#explain(other);
      if (presence?.kind === "foreign") return { name: other, isCertain: false, isForeign: true };
      if (presence?.kind !== "present") return { name: other, isCertain: false };
      if (presence.instance.id === instance.id) return { name: other, isCertain: true };
    }
    return undefined;
  }

  /** Returns the presence of a Node that is not initialised yet. If two Nodes claim a machine, neither gets it. */
  refuseRival(node: Node, presence: Presence): Presence {
    if (presence.kind !== "present" || !isUninitialized(node)) return presence;
    const { instance, matchedBy } = presence;
    // A Node that is found by its name may have a provider ID that names no machine, the same as many others.
    const rival =
      matchedBy === "name"
        ? (this.findRival(node, instance, "") ?? this.#findNamesake(node, instance))
        : this.findRival(node, instance);
    return rival === undefined ? presence : toRivalPresence(presence.instance, rival);
  }

  /**
   * Finds another Node that has the same machine by its name, without a provider ID or with one that names no machine:
   * a cloud may find the same machine for `worker-1` and for `worker-1.example.com`.
   */
  #findNamesake(node: Node, instance: Instance): Rival | undefined {
    const { name } = node.metadata;
    const other = this.#claims.others(toNameClaim(node), name).find((one) => {
      const presence = this.#explain(one);
      return presence?.kind === "present" && presence.instance.id === instance.id;
    });
    return other === undefined ? undefined : { name: other, isCertain: true };
  }

  #listClaims(node: Node): readonly string[] {
    const providerId = node.spec?.providerID ?? "";
    const isMachine = this.#provider.toInstanceId?.(providerId) !== undefined;
    return [
      ...(providerId === "" ? [] : [this.#toProviderIdClaim(providerId)]),
      ...(isMachine ? [] : [toNameClaim(node)]),
      toSystemUuidClaim(node),
    ].filter((claim) => claim !== "");
  }

  /**
   * Returns the same claim for every form of an instance's provider ID, and the text itself if another cloud owns it.
   */
  #toProviderIdClaim(providerId: string): string {
    const id = this.#provider.toInstanceId?.(providerId);
    return id === undefined ? providerId : `instance ${id}`;
  }
}

/** Whether two states of one Node claim the same machine. */
export function claimsTheSame(one: Node, other: Node): boolean {
  return (
    one.spec?.providerID === other.spec?.providerID &&
    one.status?.nodeInfo?.systemUUID === other.status?.nodeInfo?.systemUUID
  );
}

function toRivalPresence({ name, providerId }: Instance, rival: Rival): Presence {
  const advice =
    "delete the Node that does not use this machine any more, or give each machine its own system UUID and " +
    "--provider-id";
  const what = `Instance "${name}" (${providerId}) ${describeClaim(rival)}`;
  return { kind: "unknown", reason: "ambiguous", message: `${what} ${advice}` };
}

/** Returns the first part of the message; advice follows. */
function describeClaim({ name, isCertain, isForeign }: Rival): string {
  if (isCertain) return `is also claimed by Node "${name}":`;
  const what = `may also be the machine of Node "${name}", which reports the same system UUID`;
  return isForeign
    ? `${what} and belongs to another controller, so Landfall cannot find out which Node is right:`
    : `${what} and whose machine is unknown. Landfall waits until it is known. If it stays unknown,`;
}

/** Returns a claim that differs from every provider ID, and is the same for all names with the same first part. */
function toNameClaim({ metadata: { name } }: Node): string {
  return `name ${name.split(".", 1).join("").toLowerCase()}`;
}

/**
 * Returns a claim that differs from every provider ID, and is the same in either byte order. Empty without a system
 * UUID.
 */
function toSystemUuidClaim(node: Node): string {
  const uuid = (node.status?.nodeInfo?.systemUUID ?? "").toLowerCase();
  const swapped = swapUuid(uuid);
  return uuid === "" ? "" : `system UUID ${uuid < swapped ? uuid : swapped}`;
}
