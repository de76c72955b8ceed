/**
 * The routes of virtual interfaces.
 * @module
 */
import type { Hono } from "hono";
import { toOperation, type Backend } from "../backend.ts";
import type { BodyShape } from "./bodies.ts";
import { toRecord } from "../steps/disks.ts";
import { createInterface, destroyInterface } from "../steps/interfaces.ts";
import { BASE, type Env, toBodyHandler, toDone, toHandler, toMade } from "./route.ts";

interface VifBody {
  readonly vmId: string;
  readonly networkId: string;
  readonly MAC?: string;
  readonly device?: string;
  readonly ipv4_allowed?: string[];
  readonly ipv6_allowed?: string[];
  readonly locking_mode?: string;
  readonly MTU?: number;
}

const CREATE: BodyShape = {
  vmId: { type: "string", isRequired: true },
  networkId: { type: "string", isRequired: true },
  MAC: { type: "string" },
  device: { type: "string" },
  ipv4_allowed: { type: "array" },
  ipv6_allowed: { type: "array" },
  locking_mode: { type: "string" },
  MTU: { type: "number" },
};

const PATCH: BodyShape = {
  networkId: { type: "string" },
  MAC: { type: "string" },
  allowedIpv4Addresses: { type: "array" },
  allowedIpv6Addresses: { type: "array" },
  lockingMode: { type: "string" },
  txChecksumming: { type: "boolean" },
};

/** Adds them. */
export function addInterfaceRoutes(app: Hono<Env>, backend: Backend): void {
  app.post(
    `${BASE}/vifs`,
    toBodyHandler<VifBody>(backend, CREATE, async (_c, work, body) => {
      const vm = work.find("vms", body.vmId, "VM");
      const network = work.find("networks", body.networkId, "network");
      const vif = await createInterface(work, vm, {
        network,
        ...(body.device !== undefined && { device: body.device }),
        ...(body.MAC !== undefined && { mac: body.MAC }),
        ...(body.MTU !== undefined && { mtu: body.MTU }),
        ...(body.ipv4_allowed && { ipv4: body.ipv4_allowed }),
        ...(body.ipv6_allowed && { ipv6: body.ipv6_allowed }),
        ...(body.locking_mode !== undefined && { lockingMode: body.locking_mode }),
      });
      return toMade("vifs", vif, false);
    }),
  );
  app.patch(
    `${BASE}/vifs/:id`,
    toBodyHandler<Record<string, unknown>>(backend, PATCH, async (c, work, body) => {
      const vif = work.find("vifs", c.req.param("id"), "VIF");
      const { networkId, ...fields } = body;
      const vm = toRecord(work.state, "vms", String(vif["$VM"]));
      await work.call(toOperation("VIF.set", vif, { vm }), () => {
        Object.assign(vif, fields, networkId === undefined ? {} : { $network: networkId });
      });
      return toDone();
    }),
  );
  app.delete(
    `${BASE}/vifs/:id`,
    toHandler(backend, async (c, work) => {
      const vif = work.find("vifs", c.req.param("id"), "VIF");
      await destroyInterface(work, vif, toRecord(work.state, "vms", String(vif["$VM"])));
      return toDone();
    }),
  );
}
