/**
 * What machines of Vinos cost: made from nothing, and at rest.
 * @module
 */
import type { Figures } from "../budgets.ts";
import { Controller } from "../controller.ts";
import { Simulators } from "../processes.ts";
import type { Subject } from "../scenarios.ts";
import { DONE_MS, READY_MS, timeUntil, waitForQuiet } from "../waiting.ts";

const FIRST = 100;
const MOST = 500;
const MINUTE_MS = 60_000;
const MAKE_MS = 10 * DONE_MS;
const ALONE = ["--controllers=vino"];

/** Makes machines, and watches them at rest. Before that it does the same without any, for comparison. */
export async function measureMachines(
  { binary, cloud }: Subject,
  settleMs: number,
): Promise<Figures> {
  await using simulators = await Simulators.start(2, cloud);
  await simulators.prepareVinos();
  const { places } = simulators;
  await using controller = await Controller.start({ binary, places, flags: ALONE });
  await controller.untilProbe("/readyz", READY_MS);
  await Bun.sleep(settleMs);
  const empty = await measureRest(simulators);
  const { resident: machinesRest } = await controller.readHoldings();
  const before = await simulators.progress();
  const cpuBefore = await controller.readCpu();
  await simulators.wantMachines(FIRST);
  const machinesMade = await timeUntil(simulators, ({ published }) => published === FIRST, MAKE_MS);
  const machinesCpu = (await controller.readCpu()) - cpuBefore;
  const after = await waitForQuiet(simulators);
  await simulators.wantMachines(MOST);
  const machinesMade500 = await timeUntil(
    simulators,
    ({ published }) => published === MOST,
    MAKE_MS,
  );
  await waitForQuiet(simulators);
  await Bun.sleep(settleMs);
  const full = await measureRest(simulators);
  const { resident } = await controller.readHoldings();
  return {
    machinesRest,
    machinesMade,
    machinesCpu,
    machinesCalls: (after.cloudRequests - before.cloudRequests) / FIRST,
    machinesWrites: (after.writes - before.writes) / FIRST,
    machinesMade500,
    machinesIdleCalls: full.cloudRequests - empty.cloudRequests,
    machinesIdleWrites: full.writes,
    machinesMore500: resident - machinesRest,
  };
}

/** Requests in a minute in which nothing happens. */
async function measureRest(
  simulators: Simulators,
): Promise<{ readonly cloudRequests: number; readonly writes: number }> {
  const before = await simulators.progress();
  await Bun.sleep(MINUTE_MS);
  const after = await simulators.progress();
  return {
    cloudRequests: after.cloudRequests - before.cloudRequests,
    writes: after.writes - before.writes,
  };
}
