/**
 * Which machines have a management controller.
 * @module
 */
import { toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import { toBootOverrideName, toCredentialsName, toHostName } from "../hosts/names.ts";
import type { MachineForm, Vino, VinoSpec } from "../resource/vino.ts";
import type { ManagedMachine } from "./secret_cache.ts";

/**
 * Lists the machines in the status of Vinos. The name of a machine has the UID of its Vino, and the cloud must show the
 * same name for the ID: a status alone gives no access to the machine of another Vino.
 */
export function listManagedMachines(vinos: Iterable<Vino>): readonly ManagedMachine[] {
  const found: ManagedMachine[] = [];
  for (const { metadata, spec, status } of vinos) {
    const { name: vino, namespace = "", uid } = metadata;
    if (uid === undefined) continue;
    const prefix = toOwnerPrefix({ uid });
    for (const { machineId, name, role, index } of status?.machines ?? []) {
      if (machineId === undefined || !name.startsWith(prefix)) continue;
      const host = toHostName({ vino, role, index });
      found.push({
        id: machineId,
        name,
        namespace,
        secretName: toCredentialsName(host),
        overrideName: toBootOverrideName(host),
        vino: { name: vino, uid },
        isInstalled: findBoot(spec, role) === "Network",
      });
    }
  }
  return found;
}

function findBoot(spec: VinoSpec | undefined, role: string): MachineForm["boot"] {
  const node = spec?.nodes?.find(({ name }) => name === role);
  return { ...spec?.xenOrchestra, ...node?.xenOrchestra }.boot;
}

/** Finds the Vino of a machine. */
export function findVino(
  vinos: Iterable<Vino>,
  { name, namespace }: Pick<ManagedMachine, "name" | "namespace">,
): Vino | undefined {
  for (const vino of vinos) {
    if (vino.metadata.namespace !== namespace) continue;
    if (vino.status?.machines?.some((one) => one.name === name)) return vino;
  }
  return undefined;
}
