/**
 * A fleet as each provider reads it, without a connection.
 * @module
 */
import type { Inventory } from "../../lib/cloud/inventory/inventory.ts";
import { decodeList } from "../../lib/cloud_http/decode.ts";
import { cloudStack } from "../../lib/providers/cloudstack/mod.ts";
import * as cloudStackModel from "../../lib/providers/cloudstack/model/inventory.ts";
import { SCHEMAS as CLOUDSTACK_SCHEMAS } from "../../lib/providers/cloudstack/wire/schema.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import { toInventory, toSurroundings } from "../../lib/providers/xenorchestra/inventory.ts";
import { COLLECTIONS } from "../../lib/providers/xenorchestra/client.ts";
import { toVmReply, toVmView } from "../../lib/simulator/cloudstack/commands/virtual_machines.ts";
import * as cloudStackSimulator from "../../lib/simulator/cloudstack/mod.ts";
import { CloudStackState } from "../../lib/simulator/cloudstack/world/state.ts";
import type { DemoMachine } from "../../lib/simulator/demo_machine.ts";
import { createFleet } from "../../lib/simulator/xenorchestra/mod.ts";
import type { CloudName } from "./mod.ts";

/** A fleet, and how to read it. */
interface Reading {
  readonly machines: readonly DemoMachine[];
  /** Decodes the server's objects, and turns them into an inventory. @param before The inventory before this one */
  readonly read: (before?: Inventory) => Inventory;
}

/** A fleet of this many machines. */
export function toReading(cloud: CloudName, count: number): Reading {
  return cloud === "xenorchestra" ? toXenOrchestra(count) : toCloudStack(count);
}

function toXenOrchestra(count: number): Reading {
  const { world, machines } = createFleet(count);
  const settings = requireSettings(
    xenOrchestra.parseConfig({ url: "http://127.0.0.1", token: "t" }, {}),
  );
  const hosts = decodeList(COLLECTIONS.hosts.schema, world.hosts ?? []);
  const pools = decodeList(COLLECTIONS.pools.schema, world.pools ?? []);
  const surroundings = toSurroundings({ hosts, pools }, undefined);
  const options = { settings, known: new Map(), lookedFor: new Set<string>(), observedAtMs: 0 };
  return {
    machines: [...machines.values()],
    read: () =>
      toInventory(decodeList(COLLECTIONS.vms.schema, world.vms ?? []), surroundings, options),
  };
}

function toCloudStack(count: number): Reading {
  const { world, machines } = cloudStackSimulator.createFleet(count);
  const state = new CloudStackState(world);
  const [caller] = state.accounts.values();
  if (caller === undefined) throw new Error("the fleet of the benchmark has no owner");
  const view = toVmView(state, caller, ["min", "nics", "servoff"]);
  const vms = [...state.vms.values()].map((vm) => toVmReply(vm, view));
  const keys = { apiKey: "none", secretKey: "none" };
  const settings = requireSettings(
    cloudStack.parseConfig({ apiUrl: "http://127.0.0.1", ...keys }, {}),
  );
  const options = { settings, zones: new Map<string, string>(), observedAtMs: 0 };
  return {
    machines: [...machines.values()],
    read: (before) =>
      cloudStackModel.toInventory(decodeList(CLOUDSTACK_SCHEMAS.vm, vms), { ...options, before }),
  };
}

function requireSettings<T>({ settings }: { readonly settings?: T | undefined }): T {
  if (settings === undefined) throw new Error("the settings of the benchmark cannot be read");
  return settings;
}
