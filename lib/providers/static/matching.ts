/**
 * Finds the instance of a Node: by provider ID, then by system UUID, then by name.
 * @module
 */
import type { Instance, NodeIdentity } from "../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../cloud/provider.ts";
import { quote } from "../../core/text/printable.ts";
import { parseProviderId } from "./provider_id.ts";

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
