/**
 * Virtual interfaces: the routes, and what the hypervisor makes and destroys.
 * @module
 */
import { toVif, type XoRecord } from "../records.ts";
import type { XenOrchestraState } from "../state.ts";
import { type Backend, readIds, toOperation, type Work } from "./backend.ts";
import { findFree, toHandleInvalid, toRecord } from "./disks.ts";
import { XapiError } from "./errors.ts";
import { BASE, type BodyShape, createRoute, type Env, toDone, toMade, toNeed } from "./route.ts";
import type { Context, Hono } from "hono";

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

/** What {@linkcode createInterface} makes. */
interface InterfaceWish {
  readonly network: XoRecord;
  /** @default {the next one that is free} */
  readonly device?: string;
  readonly mac?: string;
  readonly mtu?: number;
  readonly ipv4?: readonly string[];
  readonly ipv6?: readonly string[];
  readonly lockingMode?: string;
}

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;

/** The interfaces of a virtual machine or template. */
export function listInterfaces(state: XenOrchestraState, vmId: string): readonly XoRecord[] {
  return [...state.all("vifs").values()].filter((vif) => vif["$VM"] === vmId);
}

/** Makes an interface. A MAC address that another machine has is no error. */
export async function createInterface(
  work: Work,
  vm: XoRecord,
  wish: InterfaceWish,
): Promise<XoRecord> {
  const { state } = work;
  const id = state.nextId("vif");
  const operation = { ...toOperation("VIF.create", vm), id };
  await work.call(operation, () => {
    const isThere = state.all("vms").has(vm.id) || state.all("vm-templates").has(vm.id);
    if (!isThere) throw toHandleInvalid("VM", vm);
    const taken = new Set(listInterfaces(state, vm.id).map((vif) => String(vif["device"])));
    const device = wish.device ?? findFree(taken);
    if (wish.mac !== undefined && !MAC.test(wish.mac)) {
      throw new XapiError("MAC_INVALID", [wish.mac], operation.method);
    }
    if (taken.has(device)) {
      throw new XapiError("DEVICE_ALREADY_EXISTS", [device], operation.method);
    }
    putInterface(state, toInterface(id, vm, { ...wish, device }));
  });
  return toRecord(state, "vifs", id);
}

function toInterface(
  id: string,
  vm: XoRecord,
  { network, device = "0", mac, mtu, ipv4 = [], ipv6 = [], lockingMode }: InterfaceWish,
): XoRecord {
  const isLocked = ipv4.length + ipv6.length > 0;
  return {
    ...toVif(vm.id, network, Number(device)),
    id,
    uuid: id,
    attached: vm["power_state"] === "Running",
    ...(mac !== undefined && { MAC: mac }),
    MTU: mtu ?? network["MTU"],
    allowedIpv4Addresses: [...ipv4],
    allowedIpv6Addresses: [...ipv6],
    lockingMode: lockingMode ?? (isLocked ? "locked" : "network_default"),
  };
}

/** Writes down an interface at both ends. */
export function putInterface(state: XenOrchestraState, vif: XoRecord): void {
  state.put("vifs", vif);
  for (const end of findEnds(state, vif)) end["VIFs"] = [...readIds(end, "VIFs"), vif.id];
}

/** Forgets an interface at both ends. */
export function dropInterface(state: XenOrchestraState, vif: XoRecord): void {
  state.remove("vifs", vif.id);
  for (const end of findEnds(state, vif)) {
    end["VIFs"] = readIds(end, "VIFs").filter((id) => id !== vif.id);
  }
}

function findEnds(state: XenOrchestraState, vif: XoRecord): XoRecord[] {
  const vmId = String(vif["$VM"]);
  const vm = state.all("vms").get(vmId) ?? state.all("vm-templates").get(vmId);
  const network = state.all("networks").get(String(vif["$network"]));
  return [vm, network].filter((end) => end !== undefined);
}

/** Removes an interface; it is unplugged first. */
export async function destroyInterface(work: Work, vif: XoRecord, vm: XoRecord): Promise<void> {
  const operation = toOperation("VIF.destroy", vif, { vm });
  await work.call(operation, () => dropInterface(work.state, vif));
}
