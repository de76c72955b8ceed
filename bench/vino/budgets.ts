/**
 * The figures of machines of Vinos, and their budgets.
 * @module
 */
import type { Budget } from "../budget.ts";

/** Name of a figure. */
export type VinoBudgetName =
  | "machinesRest"
  | "machinesMade"
  | "machinesCpu"
  | "machinesCalls"
  | "machinesWrites"
  | "machinesMade500"
  | "machinesIdleCalls"
  | "machinesIdleWrites"
  | "machinesMore500";

/** In the order in which they are printed. */
export const VINO_BUDGETS: Readonly<Record<VinoBudgetName, Budget>> = {
  machinesRest: { title: "resident, only the controller vino, no machines", unit: "MiB" },
  machinesMade: {
    title: "100 machines of a Vino from nothing, until each is complete and published",
    unit: "s",
  },
  machinesCpu: { title: "  processor time of the controller", unit: "s" },
  machinesCalls: {
    title: "  requests to the cloud per machine, inventories included",
    unit: "requests",
    max: 12,
  },
  machinesWrites: { title: "  writes to Kubernetes per machine, Events included", unit: "writes" },
  machinesMade500: { title: "400 more machines", unit: "s" },
  machinesIdleCalls: {
    title: "one idle minute with 500 machines: requests to the cloud more than without them",
    unit: "requests",
    max: 0,
  },
  machinesIdleWrites: { title: "  writes to Kubernetes", unit: "writes", max: 0 },
  machinesMore500: { title: "  resident, settled: more than without them", unit: "MiB" },
};
