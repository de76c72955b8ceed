/**
 * What addresses from pools cost for many Services.
 * @module
 */
import type { Figures } from "../budgets.ts";
import { Controller } from "../controller.ts";
import { Simulators } from "../processes.ts";
import type { Subject } from "../scenarios.ts";
import { DONE_MS, READY_MS, timeUntil, waitFor, waitForQuiet } from "../waiting.ts";

const NODES = 12;
/** With room for twice as many Services. */
const LINES = "loadBalancers: { pools: [{ name: main, addresses: [10.0.0.1-10.0.39.16] }] }\n";

/** Makes Services at once, in a cluster of a few Nodes, and waits until each has an address of a pool. */
export async function measurePools(
  { binary, cloud }: Subject,
  options: { readonly count: number; readonly settleMs: number },
): Promise<Figures> {
  const { count, settleMs } = options;
  await using simulators = await Simulators.start(NODES, cloud);
  const { places } = simulators;
  await using controller = await Controller.start({ binary, places, lines: LINES });
  await controller.untilProbe("/readyz", READY_MS);
  await simulators.register();
  await waitFor(simulators, ({ initialised }) => initialised === NODES, DONE_MS);
  await waitForQuiet(simulators);
  await Bun.sleep(settleMs);
  const before = { ...(await simulators.progress()), ...(await controller.readHoldings()) };
  const cpuBefore = await controller.readCpu();
  await simulators.createServices({ count, ports: 1, hasNodePorts: false });
  const pools5000 = await timeUntil(simulators, ({ served }) => served === count, DONE_MS);
  const poolsCpu5000 = (await controller.readCpu()) - cpuBefore;
  const { writes } = await waitForQuiet(simulators);
  await Bun.sleep(settleMs);
  const { resident } = await controller.readHoldings();
  return {
    pools5000,
    poolsCpu5000,
    poolsWrites5000: (writes - before.writes) / count,
    poolsMore5000: resident - before.resident,
  };
}
