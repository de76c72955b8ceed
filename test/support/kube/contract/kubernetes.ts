/**
 * What Landfall relies on in an API server, as tests that run on the simulator and on the real one.
 * @module
 */
import { afterAll, beforeAll, describe } from "bun:test";
import { ContractClient, type ContractContext, type ContractServer } from "./client.ts";
import { addApplyCases, addWriteCases } from "./writes.ts";
import { addKindCases } from "./kinds.ts";
import { addListCases, addWatchCases } from "./reads.ts";
import { addServiceCases } from "./services.ts";
import { addWorkloadCases } from "./workloads.ts";

const ALL = [
  addWriteCases,
  addListCases,
  addWatchCases,
  addKindCases,
  addApplyCases,
  addServiceCases,
  addWorkloadCases,
];

/** Runs the contract against the server that `start` gives. `skip` leaves it out. */
export function describeKubernetesContract(
  name: string,
  start: () => Promise<ContractServer>,
  options: { readonly skip?: boolean; readonly startTimeoutMs?: number } = {},
): void {
  describe.skipIf(options.skip === true)(`${name} keeps the Kubernetes contract`, () => {
    let context: ContractContext | undefined;
    const use = (): ContractContext => {
      if (context === undefined) throw new Error("Cannot run contract: the server is not up");
      return context;
    };
    beforeAll(async () => {
      const target = await start();
      context = { target, client: new ContractClient(target) };
    }, options.startTimeoutMs ?? 5000);
    afterAll(() => context?.target.stop());
    for (const add of ALL) add(use);
  });
}
