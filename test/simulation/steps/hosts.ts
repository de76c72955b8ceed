/**
 * What may happen to BareMetalHosts, and to machines of Cluster API that use them, in stories with metal3.
 * @module
 */
import type { ApiObject, ObjectAccess } from "../../../lib/simulator/kubernetes/mod.ts";
import type { ClusterApi } from "../../../lib/simulator/metal3/cluster_api.ts";
import { isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { PAUSED } from "../../../lib/simulator/metal3/kinds.ts";
import type { Random } from "../../support/random.ts";
import { type Step, toStepOf } from "./mod.ts";

/** What these steps need of a world. */
interface HostsWorld {
  readonly random: Random;
  readonly objects: ObjectAccess;
  /** All hosts. */
  readonly hosts: readonly ApiObject[];
}

/** The same with Cluster API. */
interface MachinesWorld {
  readonly random: Random;
  readonly clusterApi: ClusterApi;
}

/** Something that happens to a host. @param fits To which ones */
export function onHost<W extends HostsWorld>(
  name: string,
  weight: number,
  fits: (host: ApiObject) => boolean,
  act: (world: W, host: ApiObject) => void,
): Step<W> {
  const list = ({ hosts }: W): readonly ApiObject[] => hosts.filter(fits);
  return toStepOf(`host ${name}`, weight, list, (world, host) => {
    act(world, host);
    return host.metadata.name;
  });
}

/** People pause hosts, and end that. @param weights How often */
export function listPauseSteps(weights: {
  readonly pause: number;
  readonly end: number;
}): readonly Step<HostsWorld>[] {
  return [
    onHost(
      "is paused",
      weights.pause,
      (host) => !isPaused(host),
      ({ objects }, host) => {
        const annotations = { [PAUSED]: "" };
        objects.patch("baremetalhosts", pathOf(host), { metadata: { annotations } });
      },
    ),
    onHost("goes on", weights.end, isPaused, unpause),
  ];
}

/** Ends a pause of a host. */
export function unpause({ objects }: Pick<HostsWorld, "objects">, host: ApiObject): void {
  const annotations = { [PAUSED]: null };
  objects.patch("baremetalhosts", pathOf(host), { metadata: { annotations } });
}

/** A machine of Cluster API goes, and gives its host back. @param weight How often */
export function toMachineEnd(weight: number): Step<MachinesWorld> {
  const list = ({ clusterApi }: MachinesWorld) =>
    clusterApi.list().filter(({ isLeaving }) => !isLeaving);
  return toStepOf("delete machine", weight, list, ({ clusterApi }, machine) => {
    clusterApi.remove(machine);
    return machine.name;
  });
}
