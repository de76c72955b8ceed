/**
 * Management controllers of the machines of Vinos, put together: hosts get their addresses, clients get a listener.
 * @module
 */
import {
  type MachineOwner,
  parseMachineName,
  toMachineName,
} from "../../../cloud/capabilities/machines.ts";
import type { MachinePower } from "../../../cloud/capabilities/machine_power.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Fence } from "../../../core/fence.ts";
import type { Logger } from "../../../core/log.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import type { StoreReader } from "../../../kube/cache/store.ts";
import type { EventRecorder } from "../../../kube/events/events.ts";
import { toEvent } from "../../../kube/events/words.ts";
import type { ManagementListener } from "../../definition.ts";
import type { HostBmcs } from "../hosts/publish/host_publisher.ts";
import type { WantedHost } from "../hosts/types.ts";
import type { VinoMachines } from "../machines/vino_machines.ts";
import type { Vino, MachineForm, VinoSpec } from "../resource/vino.ts";
import { HostCredentialsSource, type ManagedMachine, SHARED_MS } from "./credentials.ts";
import { type RedfishSettings, toBmcAddress, toManagementPlace } from "./flags.ts";
import { runLeaderEndpoint } from "./leader_endpoint.ts";
import { VinoManagement } from "./management.ts";
import { EVENT_WORDS } from "../words.ts";
import { toBootOverrideName, toCredentialsName, toHostName } from "../hosts/names.ts";

/** What {@linkcode createRedfish} needs. */
interface RedfishOptions {
  readonly settings: RedfishSettings;
  readonly vinoes: Pick<StoreReader<Vino>, "get" | "values">;
  readonly objects: Pick<VinoMachines, "find" | "listEntries">;
  readonly power: MachinePower;
  readonly client: Pick<KubeClient, "create" | "patch" | "read">;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
}

/** The management controllers of all machines. */
export interface Redfish {
  readonly listener: ManagementListener;
  readonly bmcs: HostBmcs;
  /** Finishes boot overrides, and points the Service here, until the signal aborts. Called when this process leads. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the management controllers of all machines. */
export function createRedfish(options: RedfishOptions): Redfish {
  const { settings, vinoes, objects, events } = options;
  const listMachines = (): ReturnType<typeof listManagedMachines> =>
    listManagedMachines(vinoes.values(), objects);
  const management = new VinoManagement({
    ...options,
    listMachines,
    media: settings.media,
    warn(machine, message) {
      const { namespace, name, vino } = machine;
      const owner = vinoes.get(`${namespace}/${vino.name}`);
      const key = parseMachineName(name);
      const object = (owner && key && objects.find(owner, key)) ?? owner;
      if (object) events.record(object, toEvent(EVENT_WORDS.bootOverrideStuck, message));
    },
  });
  const source = new HostCredentialsSource(options);
  return {
    listener: { ...toManagementPlace(settings), management },
    async run(signal) {
      const { endpoint } = settings;
      await Promise.all([
        management.run(signal),
        endpoint && runLeaderEndpoint({ ...options, endpoint }, signal),
      ]);
    },
    bmcs: {
      add: (host, owner, signal) => addBmc(host, owner, { ...options, source, management }, signal),
      async release(host, { namespace, name }, signal) {
        const vino = vinoes.get(`${namespace}/${name}`);
        const overrideName = toBootOverrideName(host);
        const machine = listManagedMachines(vino ? [vino] : [], objects).find(
          (one) => one.overrideName === overrideName,
        );
        return machine && (await management.release(machine, signal));
      },
    },
  };
}

/** What {@linkcode addBmc} works with. */
interface AddBmcOptions extends RedfishOptions {
  readonly source: HostCredentialsSource;
  readonly management: Pick<VinoManagement, "expect">;
}

async function addBmc(
  host: WantedHost,
  { namespace, name }: MachineOwner,
  { settings, vinoes, source, management }: AddBmcOptions,
  signal: AbortSignal,
): Promise<WantedHost> {
  const wanted = vinoes.get(`${namespace}/${name}`)?.spec?.bmcCredentials;
  const found = await source.find({ namespace, host: host.name, wanted }, signal);
  if ("problem" in found) {
    return { ...host, bmcProblem: found.problem };
  }
  const { username, password, notice } = found;
  management.expect({ id: host.machineId, name: host.machineName }, found);
  const address = toBmcAddress(settings, host.machineId);
  const bmc = {
    address,
    username,
    password,
    skipsCertificateCheck: settings.certFile === undefined,
  };
  return {
    ...host,
    bmc,
    ...(notice !== undefined && { bmcNotice: notice }),
    ...(wanted?.secretRef && { bmcAgainMs: SHARED_MS }),
  };
}

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
