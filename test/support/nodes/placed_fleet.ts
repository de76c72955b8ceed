/**
 * What tests of a place stand on: a cluster with three machines that stay, and Landfalls that end with each test.
 * @module
 */
import { afterAll, afterEach, beforeAll } from "bun:test";
import { ClusterRig } from "../process/cluster_rig.ts";
import { killAll, type LandfallProcess, type Program } from "../process/landfall_process.ts";
import {
  placeLandfall,
  type PlacedLandfall,
  type PlaceOptions,
} from "../process/placed_landfall.ts";
import { WatchedFleet } from "./watched_fleet.ts";

/** The cluster and its machines. */
interface FleetStage {
  readonly rig: ClusterRig;
  readonly fleet: WatchedFleet;
}

/** What the tests of a block have. */
interface PlacedFleet {
  /** @throws Error before the first test */
  use(): FleetStage;
  /** Starts a Landfall. After the test it is killed, and its Lease is free. */
  place(options: PlaceOptions): Promise<PlacedLandfall>;
}

const START_MS_MAX = 120_000;

/** Makes a cluster for the tests of a block, before the first until after the last. */
export function usePlacedFleet(program: Program | undefined): PlacedFleet {
  let stage: FleetStage | undefined;
  const running: LandfallProcess[] = [];
  const use = (): FleetStage => {
    if (stage === undefined) throw new Error("Cannot test: not up");
    return stage;
  };
  beforeAll(async () => {
    const rig = await ClusterRig.start();
    stage = { rig, fleet: new WatchedFleet(rig) };
    await stage.fleet.add("stays-1", "stays-2", "stays-3");
  }, START_MS_MAX);
  afterEach(async () => {
    await killAll(running.splice(0));
    await stage?.rig.deleteLease();
  });
  afterAll(() => stage?.rig.stop());
  return {
    use,
    place: async (options) => {
      if (program === undefined) throw new Error("Cannot test: there is no program");
      const placed = await placeLandfall(use().rig, program, options);
      running.push(placed.landfall);
      return placed;
    },
  };
}
