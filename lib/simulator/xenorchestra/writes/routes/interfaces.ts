/**
 * The routes of virtual interfaces.
 * @module
 */
import type { Context, Hono } from "hono";
import type { XoRecord } from "../../records.ts";
import { toOperation, type Backend, type Work } from "../backend.ts";
import type { BodyShape } from "./bodies.ts";
import { toRecord } from "../steps/disks.ts";
import { createInterface, destroyInterface } from "../steps/interfaces.ts";
import { BASE, type Env, toDone, toMade, toNeed, createRoute } from "./route.ts";

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
    createRoute<VifBody>(backend, {
      toNeeds: (_c, _work, object) => [{ resource: "vif", action: "create", object }],
      shape: CREATE,
      handle: async (_c, work, body) => {
        const vm = work.find("vms", body.vmId, "VM");
        const network = work.find("networks", body.networkId, "network");
        const vif = await createInterface(work, vm, {
          network,
          ...(body.device !== undefined && { device: body.device }),
          ...(body.MAC !== undefined && { mac: body.MAC }),
          ...(body.MTU !== undefined && { mtu: body.MTU }),
          ...(body.ipv4_allowed && { ipv4: body.ipv4_allowed }),
          ...(body.ipv6_allowed && { ipv6: body.ipv6_allowed }),
          // Only create_vm locks by addresses.
          lockingMode: body.locking_mode ?? "network_default",
        });
        return toMade("vifs", vif, false);
      },
    }),
  );
  app.patch(
    `${BASE}/vifs/:id`,
    createRoute<Record<string, unknown>>(backend, {
      toNeeds: (c, work) => [toNeed("vif", "update", find(c, work))],
      shape: PATCH,
      handle: async (c, work, { networkId, ...fields }) => {
        const vif = find(c, work);
        const vm = toRecord(work.state, "vms", String(vif["$VM"]));
        await work.call(toOperation("VIF.set", vif, { vm }), () => {
          Object.assign(vif, fields, networkId === undefined ? {} : { $network: networkId });
        });
        return toDone();
      },
    }),
  );
  app.delete(
    `${BASE}/vifs/:id`,
    createRoute(backend, {
      toNeeds: (c, work) => [toNeed("vif", "delete", find(c, work))],
      handle: async (c, work) => {
        const vif = find(c, work);
        await destroyInterface(work, vif, toRecord(work.state, "vms", String(vif["$VM"])));
        return toDone();
      },
    }),
  );
}

function find(c: Context<Env>, work: Work): XoRecord {
  return work.find("vifs", c.req.param("id"), "VIF");
}
