/**
 * Which machines have a management controller.
 * @module
 */
import { toMachineName } from "../../../cloud/capabilities/machines.ts";
import { toBootOverrideName, toCredentialsName, toHostName } from "../hosts/names.ts";
import type { VinoMachines } from "../machines/vino_machines.ts";
import type { MachineForm, Vino, VinoSpec } from "../resource/vino.ts";
import type { ManagedMachine } from "./secret_cache.ts";

/**
 * Lists the machines of Vinos. The name of a machine comes from the UID of its Vino, its role and its index, and the
 * cloud must show the same name for the ID: an object alone gives no access to the machine of another Vino.
 */
export function listManagedMachines(
  vinos: Iterable<Vino>,
  objects: Pick<VinoMachines, "listEntries">,
): readonly ManagedMachine[] {
  const found: ManagedMachine[] = [];
  for (const one of vinos) {
    const { metadata, spec } = one;
    const { name: vino, namespace = "", uid } = metadata;
    if (uid === undefined) continue;
    for (const { machineId, name, role, index } of objects.listEntries(one)) {
      if (machineId === undefined || name !== toMachineName({ owner: { uid }, role, index }))
        continue;
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
