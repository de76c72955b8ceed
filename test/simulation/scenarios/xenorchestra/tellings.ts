/**
 * How scenarios of Xen Orchestra are told.
 * @module
 */
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { type XenOrchestraCloud, XenOrchestraWorld } from "../../xenorchestra/cloud.ts";
import type { PoolPlace } from "../../xenorchestra/stay_judge.ts";
import { listTellings, type Outage, type OutageManner, PROOF_ALONE } from "../outage.ts";
import type { Telling } from "../scenario.ts";
import {
  type Care,
  type PartName,
  PARTS,
  type Stage,
  tellOnStage,
  toWorldSettings,
} from "../stage.ts";

/** A stage with a Xen Orchestra. The pools are those of its parts, in their order. */
export type XoStage = Stage<XenOrchestraCloud>;
/** An outage of Xen Orchestra. */
export type XoOutage = Outage<XenOrchestraCloud>;

/** A scenario that is told as it stands. */
export interface XoScript {
  readonly name: string;
  /** @default {those of a new installation} */
  readonly care?: Care;
  /** Whether Xen Orchestra tells of changes as they happen. @default {true} */
  readonly hasEvents?: boolean;
  readonly isOfCi?: boolean;
  readonly act: (stage: XoStage) => Promise<void>;
}

interface XoManner extends OutageManner {
  readonly hasEvents?: boolean;
}

/** Care of a new installation. */
export const DEFAULT: Care = { deletion: DEFAULT_DELETION };
/** Nothing but the proof stands between a Node and the out-of-service taint. */
const POWER_PROOF_ALONE = { confirmations: 1, graceMs: 0 };
const OFF = { deletion: PROOF_ALONE, outOfService: POWER_PROOF_ALONE };

/**
 * Outside of CI, outages are told with the least between a Node and its deletion: nothing but the proof, and a
 * controller that takes Nodes out of service by the proof. What only time tells from a deletion needs the settings of a
 * new installation. Of those of a process that starts meanwhile, scripts.ts has the worst.
 */
const MANNERS: readonly XoManner[] = [
  { name: "default", ...DEFAULT, restarts: false, isOfCi: true },
  { name: "no-events", ...DEFAULT, restarts: false, isOfCi: true, hasEvents: false },
  { name: "proof-alone", deletion: PROOF_ALONE, restarts: false, isOfCi: true },
  { name: "proof-alone-restart", deletion: PROOF_ALONE, restarts: true, isOfCi: true },
  { name: "off", ...OFF, restarts: false, isOfCi: false },
  { name: "off-restart", ...OFF, restarts: true, isOfCi: true },
];

/** Tells a script. */
export function toTelling({ name, act, isOfCi = false, ...how }: XoScript): Telling {
  return { name, isOfCi, tell: () => tell(name, how, act) };
}

/** Tells an outage in every manner. */
export function toTellings(outage: XoOutage): Telling[] {
  return listTellings(outage, MANNERS, RULES, (name, manner, act) =>
    tell(name, { care: manner, ...manner }, act),
  );
}

async function tell(
  name: string,
  { care = DEFAULT, hasEvents = true }: Pick<XoScript, "care" | "hasEvents">,
  act: (stage: XoStage) => Promise<void>,
) {
  const world = new XenOrchestraWorld("settled", () => toWorldSettings(care));
  world.cloud.events.isOffered = hasEvents;
  return await tellOnStage(name, world, act);
}

const RULES = {
  // A machine of a pool that answers is proven gone by this or any other process.
  provesUnseen: true,
  halt: ({ state }: XenOrchestraCloud, vmId: string) => state.setPower(vmId, "Halted"),
  move: ({ state, firstPools }: XenOrchestraCloud, vmId: string) => {
    const poolId = state.all("vms").get(vmId)?.["$pool"];
    const [, hostId = ""] = firstPools.find(({ id }) => id === poolId)?.hostIds ?? [];
    state.migrateLive(vmId, hostId);
  },
  origins: {
    "topology.k8s.xenorchestra/host_id": "topology.k8s.xenorchestra/original_host_id",
    "topology.k8s.xenorchestra/pool_id": "topology.k8s.xenorchestra/original_pool_id",
  },
  lose: (cloud: XenOrchestraCloud, vmId: string) => cloud.removeVm(vmId),
};

/** A pool and its hosts. */
export function findPool({ cloud: { firstPools } }: XoStage, part: PartName): PoolPlace {
  const pool = firstPools[PARTS.indexOf(part)];
  if (pool === undefined) throw new RangeError(`There is no pool ${part}`);
  return pool;
}

/** Loses the connection to a pool. Returns what ends that. */
export function losePool(stage: XoStage, part: PartName): () => void {
  const { id } = findPool(stage, part);
  const { state } = stage.cloud;
  state.dropPool(id);
  return () => state.restorePool(id);
}

/** Moves the machine of a Node to a pool at once, which no list shows. @param gapMs How long neither pool shows it */
export function move(stage: XoStage, name: string, part: PartName, gapMs?: number): void {
  const { id } = findPool(stage, part);
  const vmId = stage.toVmId(name);
  stage.world.invariants.proofs.fleet.noteMove(vmId);
  stage.cloud.state.migratePool(vmId, id, { ...(gapMs !== undefined && { gapMs }) });
}

/** The connection to a pool, as Xen Orchestra lists it. */
export function findServer(stage: XoStage, part: PartName): XoRecord {
  const { id } = findPool(stage, part);
  const server = [...stage.cloud.state.all("servers").values()].find((one) => one["poolId"] === id);
  if (server === undefined) throw new Error("Cannot find the connection");
  return server;
}
