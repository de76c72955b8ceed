/**
 * Turns an inventory file into instances.
 * @module
 */
import type { Instance, InstanceAddress } from "../../cloud/instance.ts";
import { parseIp } from "../../core/net/ip.ts";
import type { StaticEntry, StaticFile } from "./config_schema.ts";
import { formatProviderId } from "./provider_id.ts";

/** Returns the instances of a file by ID, frozen. An instance with the state `deleted` does not exist. */
export function toInstances(file: StaticFile): ReadonlyMap<string, Instance> {
  const existing = file.instances.filter(({ state }) => state !== "deleted");
  return new Map(existing.map((entry) => [entry.id, toInstance(entry, file)]));
}

function toInstance(entry: StaticEntry, file: StaticFile): Instance {
  const region = entry.region ?? file.region;
  const zone = entry.zone ?? file.zone;
  return Object.freeze({
    id: entry.id,
    providerId: formatProviderId(file.scheme, entry.id),
    name: entry.name,
    state: entry.state === "stopped" ? ("stopped" as const) : ("running" as const),
    ...(entry.systemUUID === undefined ? {} : { systemUuid: entry.systemUUID }),
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(entry.type === undefined ? {} : { instanceType: entry.type }),
    addresses: Object.freeze(toAddresses(entry)),
    labels: Object.freeze({ ...entry.labels }),
    details: Object.freeze({ state: entry.state }),
  });
}

/** Lists the addresses in the order of the file, each once, IP addresses in canonical form. */
function toAddresses({ addresses }: StaticEntry): InstanceAddress[] {
  const byText = new Map<string, InstanceAddress>();
  for (const { type, address } of addresses) {
    const text = type.endsWith("IP") ? (parseIp(address)?.text ?? address) : address;
    const key = `${type} ${text}`;
    if (!byText.has(key)) byText.set(key, Object.freeze({ type, address: text }));
  }
  return [...byText.values()];
}
