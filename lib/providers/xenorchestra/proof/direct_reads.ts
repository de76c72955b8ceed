/**
 * Direct reads for one Node: for Nodes that an inventory lacks, and before a deletion.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { MatchedBy, Presence, ReadOptions } from "../../../cloud/provider.ts";
import { proveAbsence } from "./absence.ts";
import { byVms, type XenOrchestraApi } from "../wire/api.ts";
import type { Identity, IdentityByProviderId } from "../model/identity.ts";
import {
  type InstanceSettings,
  type Surroundings,
  toInstance,
  toLost,
  withDevices,
} from "../model/inventory.ts";
import type { Memory } from "../memory.ts";
import {
  findGap,
  toContradiction,
  toNotFound,
  toPresent,
  toUndecodable,
} from "../model/presence.ts";
import { findSuspect, judgeShown, type KnownIdentity, toQuestion } from "./whereabouts.ts";

/** The dependencies of {@linkcode DirectReads}. */
interface DirectReadsOptions {
  readonly api: XenOrchestraApi;
  readonly settings: InstanceSettings;
  readonly memory: Memory;
}

/** The newest inventory, and the surroundings of its VMs. */
interface Known {
  readonly inventory: Inventory;
  readonly surroundings: Surroundings;
  readonly mayPartsBeLost: NonNullable<ReadOptions["mayPartsBeLost"]>;
}

/** Asks Xen Orchestra. Every method throws {@linkcode CloudError} if there is no usable answer. */
export class DirectReads {
  readonly #options: DirectReadsOptions;

  constructor(options: DirectReadsOptions) {
    this.#options = options;
  }

  /** Finds the VM of a Node, proves that it is gone, or says why it can do neither. */
  read(identity: KnownIdentity, known: Known, signal: AbortSignal): Promise<Presence> {
    return identity.kind === "providerId"
      ? this.#readByProviderId(identity, known, signal)
      : this.#readBySystemUuid(identity, known, signal);
  }

  async #readByProviderId(
    identity: IdentityByProviderId,
    known: Known,
    signal: AbortSignal,
  ): Promise<Presence> {
    const { api, memory } = this.#options;
    const { vmId } = identity;
    const read = await this.#readVm(vmId, { ...known, matchedBy: "providerId" }, signal);
    if (read !== "missing") {
      const judged = await this.#judge(read, identity, { known, signal });
      const region = judged.kind === "present" ? judged.instance.region : undefined;
      if (region !== undefined) memory.noteRead(vmId, region);
      return judged;
    }
    for (const other of identity.reported ?? []) {
      const reported = await this.#readVm(other, { ...known, matchedBy: "systemUuid" }, signal);
      if (reported !== "missing") return toContradiction(vmId, other);
    }
    const { inventory, mayPartsBeLost } = known;
    const question = { ...toQuestion(inventory, identity, memory), mayPartsBeLost };
    return await proveAbsence(api, question, signal);
  }

  async #readBySystemUuid(
    identity: Identity & { kind: "systemUuid" },
    known: Known,
    signal: AbortSignal,
  ): Promise<Presence> {
    const { memory } = this.#options;
    const { direct, swapped } = identity;
    const read = await this.#readVm(direct, { ...known, matchedBy: "systemUuid" }, signal);
    // Xen Orchestra hides the VMs of a lost pool, so a 404 proves nothing.
    const isNoVm = read === "missing" && findGap(known.inventory.coverage) === undefined;
    memory.rememberNoVm(direct, isNoVm);
    if (read !== "missing") return await this.#judge(read, identity, { known, signal });
    const matchedBy = "swappedSystemUuid";
    const listed = known.inventory.instances.get(swapped);
    const second = listed
      ? toPresent(listed, matchedBy)
      : await this.#readVm(swapped, { ...known, matchedBy }, signal);
    if (second === "missing") return toNotFound(known.inventory, direct, swapped);
    return await this.#judge(second, identity, { known, signal });
  }

  async #readVm(
    id: string,
    { surroundings, matchedBy }: { surroundings: Surroundings; matchedBy: MatchedBy },
    signal: AbortSignal,
  ): Promise<Presence | "missing"> {
    const { api, settings } = this.#options;
    const reply = await api.readVm(id, signal);
    if (reply.kind === "missing") return "missing";
    if (reply.kind === "undecodable") return toUndecodable(id, reply.problem);
    const vifs = surroundings.networkIds && (await api.list("vifs", signal, byVms([id])));
    const instance = toInstance(reply.value, withDevices(surroundings, vifs), settings);
    return toPresent(instance, matchedBy);
  }

  /** Judges a VM that is shown. Its known pool may have been lost since the inventory. */
  async #judge(
    presence: Presence,
    identity: KnownIdentity,
    { known, signal }: { readonly known: Known; readonly signal: AbortSignal },
  ): Promise<Presence> {
    const { api, memory } = this.#options;
    if (presence.kind !== "present") return presence;
    const poolId = findSuspect(presence.instance, identity, memory);
    const poolIds = new Set(poolId === undefined ? [] : [poolId]);
    const { coverage } = await withLosses(api, { inventory: known.inventory, poolIds }, signal);
    return judgeShown(presence, identity, { coverage, memory });
  }
}

/**
 * Returns an inventory that marks those of these pools that were lost during the inventory or after it. Asks once for
 * each pool that the inventory covers.
 *
 * @throws {CloudError} if there is no answer
 */
export async function withLosses(
  api: Pick<XenOrchestraApi, "readPool">,
  { inventory, poolIds }: { readonly inventory: Inventory; readonly poolIds: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Inventory> {
  const losses = new Map<string, ReturnType<typeof toLost>>();
  for (const poolId of poolIds) {
    const before = inventory.coverage.get(poolId);
    if (!before?.complete) continue;
    const pool = await api.readPool(poolId, signal);
    if (pool.kind !== "found") losses.set(poolId, toLost(before));
  }
  if (losses.size === 0) return inventory;
  return { ...inventory, coverage: new Map([...inventory.coverage, ...losses]) };
}
