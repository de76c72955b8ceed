/**
 * What Landfall relies on in an API server, as tests that run on the simulator and on the real one.
 * @module
 */
import { afterAll, beforeAll, describe } from "bun:test";
import type { CustomKind } from "../../../../lib/simulator/kubernetes/mod.ts";
import { ContractClient, type ContractTarget, readJson } from "./client.ts";
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
  /** Its minor version: Kubernetes 1.`minor`. */
  minor: number;
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

/** Runs the contract, or only some groups of its cases, against the server that `start` gives. `skip` leaves it out. */
export function describeKubernetesContract(
  name: string,
  start: () => Promise<ContractServer>,
  options: {
    readonly skip?: boolean;
    readonly startTimeoutMs?: number;
    readonly groups?: readonly ((use: () => ContractContext) => void)[];
  } = {},
): void {
  describe.skipIf(options.skip === true)(`${name} keeps the Kubernetes contract`, () => {
    let context: ContractContext | undefined;
    const use = (): ContractContext => {
      if (context === undefined) throw new Error("Cannot run contract: the server is not up");
      return context;
    };
    beforeAll(async () => {
      const target = await start();
      const response = await target.fetch("/version", {});
      const { minor } = await readJson<{ readonly minor: string }>(response);
      context = { target, client: new ContractClient(target), minor: Number.parseInt(minor, 10) };
    }, options.startTimeoutMs ?? 5000);
    afterAll(() => context?.target.stop());
    for (const add of options.groups ?? ALL) add(use);
  });
}
