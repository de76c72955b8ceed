/**
 * Turns an inventory file into instances, and finds the instance of a Node: by provider ID, then by system UUID, then
 * by name.
 * @module
 */
import type { Instance, InstanceAddress, NodeIdentity } from "../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../cloud/provider.ts";
import { parseIp } from "../../core/net/ip.ts";
import { quote } from "../../core/text/printable.ts";
import { isInstanceId, type StaticEntry, type StaticFile } from "./settings.ts";

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

/**
 * Finds a Node's instance among those that exist. Never returns `absent`.
 *
 * If a Node has a provider ID, only that ID counts: it never changes, and a machine with the same name is another
 * machine.
 *
 * @param scheme The text before `://` in provider IDs
 */
export function findInstance(
  scheme: string,
  instances: ReadonlyMap<string, Instance>,
  node: NodeIdentity,
): Presence {
  const { providerId } = node;
  if (providerId === undefined) return findByMachine(instances, node);
  const parsed = parseProviderId(scheme, providerId);
  if (parsed.kind === "foreign") return { kind: "foreign", providerId };
  if (parsed.kind === "malformed") return toUnknown("malformedProviderId", parsed.message);
  const instance = instances.get(parsed.id);
  if (instance !== undefined) return { kind: "present", instance, matchedBy: "providerId" };
  return toUnknown(
    "notListed",
    `Cannot find instance "${parsed.id}": the inventory file does not list it`,
  );
}

function findByMachine(instances: ReadonlyMap<string, Instance>, node: NodeIdentity): Presence {
  const { name } = node;
  const systemUuid = node.systemUuid?.trim().toLowerCase();
  if (name === "" && !systemUuid) {
    return toUnknown(
      "noIdentity",
      "Cannot look up the Node: it has neither a system UUID nor a name",
    );
  }
  const all = [...instances.values()];
  const byUuid = systemUuid && all.find((instance) => instance.systemUuid === systemUuid);
  if (byUuid) return { kind: "present", instance: byUuid, matchedBy: "systemUuid" };
  const named = all.filter((instance) => instance.name === name);
  const [instance] = named;
  if (instance === undefined) {
    const tried = systemUuid
      ? `the name "${name}" or the system UUID ${quote(systemUuid)}`
      : `the name "${name}"`;
    return toUnknown(
      "notListed",
      `Cannot find an instance: the inventory file lists none with ${tried}`,
    );
  }
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(", ");
    const hint = "add systemUUID to each in the inventory file";
    return toUnknown(
      "ambiguous",
      `Cannot choose between ${ids}: all are called "${name}"; ${hint}`,
    );
  }
  // A name alone proves little. A different UUID proves that this is another machine.
  if (systemUuid && instance.systemUuid !== undefined) {
    const uuids = `the inventory file has ${instance.systemUuid}, the Node has ${quote(systemUuid)}`;
    return toUnknown(
      "ambiguous",
      `Cannot match "${name}" by name: its system UUID differs: ${uuids}`,
    );
  }
  return { kind: "present", instance, matchedBy: "name" };
}

/** The content of a provider ID. */
type ParsedProviderId =
  | { readonly kind: "ours"; readonly id: string }
  /** Has our scheme but is malformed. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

/** Formats a provider ID: `<scheme>://<id>`. MUST NOT CHANGE: clusters keep it for ever. */
export function formatProviderId(scheme: string, id: string): string {
  return `${scheme}://${id}`;
}

/**
 * Reads a provider ID. Also reads the doubled form `<scheme>://<scheme>://<id>` of old cloud providers, but Landfall
 * never writes it.
 */
export function parseProviderId(scheme: string, text: string): ParsedProviderId {
  if (text !== scheme && !text.startsWith(`${scheme}:`)) return { kind: "foreign" };
  const prefix = `${scheme}://`;
  const once = text.startsWith(prefix) ? text.slice(prefix.length) : "";
  const id = once.startsWith(prefix) ? once.slice(prefix.length) : once;
  if (isInstanceId(id)) return { kind: "ours", id };
  const message =
    `Cannot read provider ID ${quote(text)}: it must have the form ${prefix}<id>. ` +
    "A provider ID cannot be changed: delete the Node and let the kubelet register it again";
  return { kind: "malformed", message };
}
