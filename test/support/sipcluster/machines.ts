/**
 * Hosts of a cluster, as its services see them.
 * @module
 */
import type { Machine } from "../../../lib/controllers/sipcluster/services/types.ts";

/** A host with one address, in the network `oam`. It is one of the control plane unless `fields` say otherwise. */
export function machine(name: string, address: string, fields: Partial<Machine> = {}): Machine {
  const addresses = new Map([["oam", address]]);
  return {
    uid: `uid-${name}`,
    namespace: "hosts",
    name,
    role: "ControlPlane",
    standby: false,
    addresses,
    ...fields,
  };
}
