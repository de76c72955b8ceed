/**
 * The objects of a simulated cluster that has hosts, without an API server.
 * @module
 */
import { ManualClock } from "../manual_clock.ts";
import { ObjectAccess } from "../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { createHost, planHosts, type RackPlan } from "../../../lib/simulator/metal3/hosts.ts";
import { BARE_METAL_HOST } from "../../../lib/simulator/metal3/kinds.ts";

/** The namespace of the hosts; it is the one that every cluster has. */
export const HOSTS = "default";

/** Creates racks of hosts, all available. */
export function createHosts(racks: readonly RackPlan[]): ObjectAccess {
  const registry = new Registry(new ManualClock(), 1000);
  registry.install(BARE_METAL_HOST);
  const objects = new ObjectAccess(registry);
  for (const plan of planHosts(HOSTS, racks)) createHost(objects, plan);
  return objects;
}
