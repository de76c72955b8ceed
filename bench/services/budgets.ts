/**
 * The figures of Services of type LoadBalancer, and their budgets.
 * @module
 */
import type { Budget } from "../budget.ts";

/** Name of a figure. */
export type ServiceBudgetName =
  | "servicesMade"
  | "servicesCpu"
  | "servicesCalls"
  | "servicesCallsShare"
  | "servicesWrites"
  | "servicesMore"
  | "servicesNodeLeaves"
  | "servicesNodeComes"
  | "servicesNodeShare"
  | "servicesNodeWrites"
  | "servicesPass"
  | "servicesPassShare"
  | "servicesPassWrites"
  | "servicesPassCpu"
  | "servicesRestart"
  | "pools5000"
  | "poolsCpu5000"
  | "poolsWrites5000"
  | "poolsMore5000";

/** Requests compared with those that the server needs. */
const SHARE = { unit: "times", max: 1.1 } as const;

/** In the order in which they are printed. */
export const SERVICE_BUDGETS: Readonly<Record<ServiceBudgetName, Budget>> = {
  servicesMade: {
    title: "200 Services of 3 ports at once, jobs of 0.2 s, until each has its address",
    unit: "s",
  },
  servicesCpu: { title: "  processor time of the controller", unit: "s" },
  servicesCalls: { title: "  requests to the cloud, without inventories", unit: "requests" },
  servicesCallsShare: { ...SHARE, title: "  as a multiple of those that the server needs" },
  servicesWrites: { title: "  writes to Kubernetes per Service, Events included", unit: "writes" },
  servicesMore: { title: "  resident, settled: more than without them", unit: "MiB" },
  servicesNodeLeaves: {
    title: "one Node leaves these 600 rules: until all are changed",
    unit: "s",
  },
  servicesNodeComes: { title: "  it comes back: until all are changed", unit: "s" },
  servicesNodeShare: { ...SHARE, title: "  requests as a multiple of those that the server needs" },
  servicesNodeWrites: {
    title: "  writes to Kubernetes per Service, Events included",
    unit: "writes",
  },
  servicesPass: {
    title: "one comparison of these 200 Services with the cloud: requests to the cloud",
    unit: "requests",
  },
  servicesPassShare: { ...SHARE, title: "  as a multiple of those that it needs" },
  servicesPassWrites: { title: "  writes to Kubernetes", unit: "writes", max: 0 },
  servicesPassCpu: { title: "  processor time of the controller", unit: "s" },
  servicesRestart: {
    title: "start with these 200 Services: requests to the cloud, inventories included",
    unit: "requests",
  },
  pools5000: {
    title: "5,000 Services at once, until each has an address of a pool",
    unit: "s",
    max: 10,
  },
  poolsCpu5000: { title: "  processor time of the controller", unit: "s" },
  poolsWrites5000: {
    title: "  writes to Kubernetes per Service, Events included",
    unit: "writes",
    max: 2,
  },
  poolsMore5000: { title: "  resident, settled: more than without them", unit: "MiB" },
};
