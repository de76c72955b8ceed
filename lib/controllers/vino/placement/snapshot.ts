/**
 * What one reconcile finds about the machines of a Vino: what the cloud shows, what is wanted, and what is too much.
 * Pure.
 * @module
 */
import type {
  MachineOwner,
  MachinesView,
  MachineProblem,
} from "../../../cloud/capabilities/machines.ts";
import { type Sighting, type KnownMachine, listKnown } from "./known.ts";
import { MACHINES_MAX, type Vino } from "../resource/vino.ts";
import type { MachineEntry } from "../resource/vino_machine.ts";
import { choosePool } from "./choice.ts";
import { type Placement, planPlacement, type PlacedMachine } from "./placement.ts";
import { type Role, toDemands } from "../resource/role_form.ts";
import { nameSome } from "../../kinds/problems.ts";
import { EVENT_WORDS } from "../words.ts";

/** What is found. */
export interface Snapshot {
  readonly owner: MachineOwner;
  readonly view: MachinesView;
  /** ID. Absent: nothing is wanted, so no pool matters. */
  readonly poolId?: string;
  readonly known: readonly KnownMachine[];
  readonly placement: Placement;
}

/** A snapshot, or why there is none. */
export type SnapshotResult =
  | { readonly kind: "done"; readonly snapshot: Snapshot }
  | {
      readonly kind: "refused";
      readonly why: "silent" | "noPool" | "tooMany";
      /** A sentence without a full stop. */
      readonly message: string;
    };

/** What a snapshot is made from. */
interface SnapshotInput {
  readonly vino: Vino;
  readonly owner: MachineOwner;
  readonly view: MachinesView;
  /** As in {@linkcode KnownSources}. */
  readonly entries: readonly MachineEntry[];
  /** As {@linkcode KnownSources.seen}. */
  readonly seen?: ReadonlyMap<string, Sighting>;
  /** Absent: the Vino wants no machines any more. */
  readonly roles?: ReadonlyMap<string, Role>;
  /** Whether an object uses the BareMetalHost of a machine. */
  readonly isConsumed: (machine: Pick<KnownMachine, "index" | "role">) => boolean;
  /** Whether machines that are too many are deleted. */
  readonly deletes: boolean;
}

/** Makes a snapshot. */
export function takeSnapshot(input: SnapshotInput): SnapshotResult {
  const { vino, owner, view, entries, seen, roles, isConsumed, deletes } = input;
  const known = listKnown({
    owner,
    view,
    ...(seen && { seen }),
    entries,
    isConsumed,
    deletes,
  });
  if (roles === undefined) {
    const placement = { wanted: [], surplus: known, shortages: [], notices: [], wantedCount: 0 };
    return { kind: "done", snapshot: { owner, view, known, placement } };
  }
  const chosen = choosePool(view.pools, vino.spec?.xenOrchestra?.pool);
  if ("problem" in chosen) {
    const why = view.pools.length === 0 ? "silent" : "noPool";
    return { kind: "refused", why, message: chosen.problem };
  }
  const { pool } = chosen;
  const placement = planPlacement({
    demands: toDemands(roles),
    pool,
    hosts: view.hosts,
    known,
    isWhole: view.pools.every(({ isComplete }) => isComplete),
    machinesMax: MACHINES_MAX,
  });
  if (placement.wantedCount > MACHINES_MAX) {
    const message =
      `The spec wants ${placement.wantedCount} machines, and a Vino has at most ${MACHINES_MAX}. ` +
      "Lower counts, choose fewer hosts, or use several Vinos";
    return { kind: "refused", why: "tooMany", message };
  }
  return { kind: "done", snapshot: { owner, view, poolId: pool.id, known, placement } };
}

/** Why nothing can be done for a machine without a host; a sentence without a full stop that names the pool. */
export function describeLostHost(
  { hostId, known }: Pick<PlacedMachine, "hostId" | "known">,
  { view: { pools }, poolId = "" }: Pick<Snapshot, "poolId" | "view">,
): string {
  const lost = pools.filter(({ isComplete }) => !isComplete).map(({ name }) => name);
  if (lost.length === 0) {
    const pool = pools.find(({ id }) => id === poolId);
    return `Pool ${pool?.name ?? poolId} shows no host where it can start`;
  }
  const { host: id, hostDisplayName = hostId } = known?.entry ?? {};
  const name = id === hostId ? hostDisplayName : hostId;
  const host = name === undefined ? "its host" : `its host ${name}`;
  return lost.length === 1
    ? `The cloud does not show ${host}: pool ${nameSome(lost)} is disconnected or still loading`
    : `The cloud does not show ${host}: pools ${nameSome(lost)} are disconnected or still loading`;
}

/** Landfall moves no machine to another pool. `undefined`: the machine is where the spec wants it, or is not shown. */
export function describeOtherPool(
  { name, machine }: Pick<KnownMachine, "machine" | "name">,
  { view, poolId }: Pick<Snapshot, "poolId" | "view">,
): MachineProblem | undefined {
  if (machine === undefined || poolId === undefined || machine.poolId === poolId) return undefined;
  const toName = (id: string): string => view.pools.find((pool) => pool.id === id)?.name ?? id;
  const [is, wanted] = [toName(machine.poolId), toName(poolId)];
  const message =
    `${name} is in pool ${is}, but xenOrchestra.pool wants ${wanted}. Landfall moves no machine to another pool. ` +
    `Set xenOrchestra.pool back to ${is}, or remove the machine: lower count, and raise it again when it is gone`;
  return { reason: EVENT_WORDS.machineDiffers.reason, kind: "notice", message };
}
