/**
 * The data of the pages about Vinos: those of their controller, and the hosts and machines of the cloud.
 * @module
 */
import {
  type MachinesView,
  parseMachineName,
  toOwnerPrefix,
} from "../../cloud/capabilities/machines.ts";
import type { RunningController } from "../../controllers/definition.ts";
import type { CloudMachineView, CloudView, VinoSource, VinoView } from "../../http/vinos/views.ts";
import { toKey } from "../../kube/cache/store.ts";
import type { Parts } from "../parts.ts";
import { findServedObjects, type NamedView } from "./served_objects.ts";

/** Reads the controller whose objects are machines of the cloud. Absent: none of the chosen ones makes machines. */
export function toVinoSource(parts: Pick<Parts, "caches" | "groups">): VinoSource | undefined {
  const offers = ({ observeMachines }: RunningController): boolean => observeMachines !== undefined;
  const served = findServedObjects<Omit<VinoView, keyof NamedView>>(parts, offers, {
    state: "working",
    wanted: 0,
    ready: 0,
    machines: [],
    shortages: [],
    conditions: [],
    lastReconcile: null,
  });
  if (served === undefined) return undefined;
  const { controller, ...objects } = served;
  return {
    ...objects,
    readCloud: async (signal) => {
      const view = await controller.observeMachines?.(signal);
      return view && addSeen(toCloudView(view, listOwners(controller.objects)), objects.list());
    },
    listPools: () => controller.listPools?.() ?? [],
  };
}

/** Keys of objects by the beginning of the names of their machines. */
function listOwners(objects: RunningController["objects"]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const key of objects?.keys() ?? []) {
    const object = objects?.get(key);
    const uid = object?.metadata.uid;
    if (object && uid !== undefined) owners.set(toOwnerPrefix({ uid }), toKey(object));
  }
  return owners;
}

/** Looks show machines that the last inventory does not have yet: otherwise a page would contradict itself. */
function addSeen(cloud: CloudView, vinos: Iterable<VinoView>): CloudView {
  const shown = new Set(cloud.machines.map(({ name }) => name));
  const hosts = new Map(cloud.hosts.map((one) => [one.id, one]));
  const seen = [...vinos].flatMap(({ namespace, name: vino, machines }) =>
    machines.flatMap((machine): CloudMachineView[] => {
      const { name, machineId: id, host: hostId = "", power, state } = machine;
      const poolId = hosts.get(hostId)?.poolId;
      if (shown.has(name) || id === undefined || power === undefined || poolId === undefined) {
        return [];
      }
      const isComplete = state === "Ready";
      return [{ name, id, poolId, hostId, power, isComplete, vino: `${namespace}/${vino}` }];
    }),
  );
  return { ...cloud, machines: [...cloud.machines, ...seen].toSorted(byName) };
}

function byName(one: CloudMachineView, other: CloudMachineView): number {
  return one.name < other.name ? -1 : 1;
}

function toCloudView(view: MachinesView, owners: ReadonlyMap<string, string>): CloudView {
  const machines = [...view.machines].flatMap(([name, some]) => {
    const vino = owners.get(parseMachineName(name)?.ownerPrefix ?? "");
    return some.map((one): CloudMachineView => {
      const { id, poolId, power, isComplete } = one;
      const hostId = one.hostId ?? one.firstHostId;
      return {
        name,
        id,
        poolId,
        power,
        isComplete,
        ...(hostId !== undefined && { hostId }),
        ...(vino !== undefined && { vino }),
      };
    });
  });
  return {
    pools: view.pools,
    hosts: view.hosts.map(({ id, name, poolId, isEnabled }) => ({ id, name, poolId, isEnabled })),
    machines: machines.toSorted(byName),
  };
}
