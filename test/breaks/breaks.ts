/**
 * Every deliberate break. A mistake that only costs time, or that a person sees at once, is none of them.
 * @module
 */
import { ACCESS_BREAKS } from "./access.ts";
import type { Break } from "./break.ts";
import { LEASE_BREAKS } from "./leases.ts";
import { LOAD_BALANCER_BREAKS } from "./load_balancers.ts";
import { MACHINE_BREAKS } from "./machines.ts";
import { NODE_BREAKS } from "./nodes.ts";

/** All breaks. */
export const BREAKS: readonly Break[] = [
  ...NODE_BREAKS,
  ...LEASE_BREAKS,
  ...LOAD_BALANCER_BREAKS,
  ...MACHINE_BREAKS,
  ...ACCESS_BREAKS,
];
