/**
 * What Landfall relies on in an API server, as tests that run on the simulator and on the real one.
 * @module
 */
import { afterAll, beforeAll, describe } from "bun:test";
import type { CustomKind } from "../../../../lib/simulator/kubernetes/mod.ts";
import { ContractClient, type ContractTarget } from "./client.ts";
import { addApplyCases } from "./apply.ts";
import { addKindCases } from "./kinds.ts";
import { addListCases } from "./lists.ts";
import { addServiceCases } from "./services.ts";
import { addWatchCases } from "./watches.ts";
import { addWorkloadCases } from "./workloads.ts";
import { addWriteCases } from "./writes.ts";

/** An API server that serves more kinds when it is told to. */
export interface ContractServer extends ContractTarget {
  /** Makes it serve one more kind, which may take a moment. */
  installKind(kind: CustomKind): Promise<void>;
  /** Makes it remove that kind and its objects, which may take a moment. */
  removeKind(kind: CustomKind): Promise<void>;
}

/** What each group of cases works with; set before the first case runs. */
export interface ContractContext {
  client: ContractClient;
  target: ContractServer;
}

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
