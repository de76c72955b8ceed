/**
 * The management controllers of machines: power, and what a machine starts from.
 * @module
 */
import {
  type MachineInterface,
  type MachinePower,
  type MachineReading,
  type PowerAction,
  RefusedPowerError,
} from "../../../cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { type Fence, LeadershipLostError } from "../../../core/fence.ts";
import { Locks, mapAtOnce } from "../../../core/concurrency.ts";
import type { Logger } from "../../../core/log.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import type {
  BootOverrideChange,
  MachineCredentials,
  MachineManagement,
  ManagedReading,
  ManagementAnswer,
} from "../../../cloud/capabilities/machine_management.ts";
import { BootOverrides, RefusedChangeError, toBootOverride } from "./boot_overrides.ts";
import { ImageError, type MediaSettings, VirtualMedia } from "./media.ts";
import { isRefusedForGood, startsNothing } from "./order_refusal.ts";
import { type OverrideClient, OverrideStore } from "./override_store.ts";
import { type ManagedMachine, SecretCache, toMachineKey } from "./credentials.ts";
import { WaitingOverrides } from "./waiting_overrides.ts";

/** What {@linkcode VinoManagement} needs. */
interface VinoManagementOptions {
  /** Lists all machines that are complete and have a management controller. Reads only memory. */
  readonly listMachines: () => readonly ManagedMachine[];
  readonly power: MachinePower;
  readonly client: OverrideClient;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: machines have no virtual media. */
  readonly media?: MediaSettings | undefined;
  /** Tells the people of a Vino what they must do. Called once for each new message about a machine. */
  readonly warn: (machine: ManagedMachine, message: string) => void;
}

const READS_AT_ONCE = 8;
const RELEASE_MESSAGE = "Cannot undo yet what its management controller set";

/** The machines of all Vinos. */
export class VinoManagement implements MachineManagement {
  readonly media?: MachineManagement["media"];
  readonly #options: VinoManagementOptions;
  readonly #secrets: SecretCache;
  readonly #store: OverrideStore;
  readonly #overrides: BootOverrides;
  readonly #waiting: WaitingOverrides;
  readonly #media: VirtualMedia | undefined;
  /** Of the machines that something is done with, by their IDs. */
  readonly #locks = new Locks();
  /** Machines whose hosts are gone, by their keys: a client may know the password for some time. */
  readonly #released = new Set<string>();

  constructor(options: VinoManagementOptions) {
    const { clock, log, listMachines, warn } = options;
    this.#options = options;
    const { media: settings, power } = options;
    if (settings && power.media) {
      const isReleased = (one: ManagedMachine): boolean => this.#released.has(toMachineKey(one));
      this.#media = new VirtualMedia({ ...options, settings, media: power.media, isReleased });
      this.media = this.#toMediaManagement(this.#media);
    }
    this.#secrets = new SecretCache(options);
    const store = new OverrideStore(options);
    this.#store = store;
    this.#overrides = new BootOverrides({ ...options, store });
    const settle = (machine: ManagedMachine, signal: AbortSignal): Promise<boolean> =>
      this.#alone(machine.id, signal, async () => {
        return (await this.#overrides.settle(machine, signal)) === "waits";
      });
    this.#waiting = new WaitingOverrides({
      store,
      listMachines,
      settle,
      clock,
      log,
      warn,
    });
  }

  /**
   * Finishes boot overrides, and removes images that no machine has, until the signal aborts. Called when this process
   * leads.
   */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#waiting.run(signal), this.#media?.run(signal)]);
  }

  isLeading(): boolean {
    try {
      this.#options.fence.check();
      return true;
    } catch {
      return false;
    }
  }

  /** Says what user and password a machine is about to have. */
  expect(machine: Pick<ManagedMachine, "id" | "name">, credentials: MachineCredentials): void {
    this.#released.delete(toMachineKey(machine));
    this.#secrets.expect(machine, credentials);
  }

  /**
   * Takes a machine from its clients, ends what they set for its next start, and takes their image out of its drive.
   * What the cloud refuses stays.
   *
   * @returns Why another try is needed, as a sentence without a full stop. `undefined`: it is done
   * @throws {KubeError} if another try may help
   */
  async release(machine: ManagedMachine, signal: AbortSignal): Promise<string | undefined> {
    this.#released.add(toMachineKey(machine));
    const work = [
      () => this.#alone(machine.id, signal, () => this.#overrides.end(machine, signal)),
      async () => this.#media?.release(machine, signal),
    ];
    for (const one of work) {
      try {
        await one();
      } catch (error) {
        if (!(error instanceof CloudError)) throw error;
        const isRefused = error instanceof RefusedPowerError && error.refusal !== "busy";
        if (!isRefused) return `${RELEASE_MESSAGE}: ${error.message}`;
        const fields = { machine: machine.name, error };
        this.#options.log.warn("Cannot undo what a management controller set", fields);
      }
    }
    return undefined;
  }

  findSystems(
    credentials: MachineCredentials,
    signal: AbortSignal,
    askedId?: string,
  ): Promise<ManagementAnswer<readonly string[]>> {
    const machines = this.#listMachines();
    return this.#answer(async () => {
      const found = await this.#secrets.findMachines(machines, credentials, signal, askedId);
      const options = { atOnce: READS_AT_ONCE, signal };
      const shown = await mapAtOnce(found, options, async (one, both) => {
        const isShown = (await this.#options.power.readName(one.id, both)) === one.name;
        return isShown ? [one.id] : [];
      });
      return shown.flat();
    });
  }

  read(id: string, signal: AbortSignal): Promise<ManagementAnswer<ManagedReading | undefined>> {
    return this.#answer(async () => {
      const found = await this.#readNow(id, signal);
      if (found === undefined) return undefined;
      const { machine, seen } = found;
      const boot = toBootOverride(this.#store.find(machine)?.override);
      if (boot.duration === "once") this.#waiting.hurry(machine);
      return { ...seen, boot, firmwares: listFirmwares(machine, seen) };
    });
  }

  readInterfaces(
    id: string,
    signal: AbortSignal,
  ): Promise<ManagementAnswer<readonly MachineInterface[] | undefined>> {
    return this.#answer(async () => {
      if (!this.#isListed(id)) return undefined;
      const seen = await this.#options.power.readInterfaces(id, signal);
      return this.#find(id, seen?.name) && seen?.interfaces;
    });
  }

  reset(id: string, action: PowerAction, signal: AbortSignal): Promise<ManagementAnswer<void>> {
    return this.#answer(() =>
      this.#alone(id, signal, async () => {
        const { power, fence, log } = this.#options;
        const machine = await this.#require(id, signal);
        const isOnce = await this.#settleBefore(machine, action, signal);
        const { power: state } = await this.#requireSeen(machine, signal);
        // Only a start from off certainly uses the order that is set.
        const isCycle = isOnce && action === "restart" && state === "running";
        const done = isCycle ? "cycle" : action;
        await power.act(id, done, fence, signal);
        const fields = { machine: machine.name, action: done };
        log.info("A management controller changed the power of a machine", fields);
        if (isOnce) this.#waiting.hurry(machine);
      }),
    );
  }

  setBoot(
    id: string,
    change: BootOverrideChange,
    signal: AbortSignal,
  ): Promise<ManagementAnswer<void>> {
    return this.#answer(() =>
      this.#alone(id, signal, async () => {
        const machine = await this.#require(id, signal);
        await this.#changeFirmware(machine, change, signal);
        const { device, duration } = change;
        if (device === undefined && duration === undefined) return;
        const state = await this.#overrides.change(machine, change, signal).finally(() => {
          // Also if it failed: it may have been written down.
          this.#waiting.hurry(machine);
        });
        const fields = { machine: machine.name, device, duration, state };
        this.#options.log.info("A management controller set the boot device of a machine", fields);
      }),
    );
  }

  #toMediaManagement(media: VirtualMedia): MachineManagement["media"] {
    return {
      read: (id, signal) =>
        this.#answer(async () => media.read(await this.#requireNow(id, signal), signal)),
      insert: (id, url, signal) =>
        this.#answer(async () => media.insert(await this.#requireNow(id, signal), url, signal)),
      eject: (id, signal) =>
        this.#answer(async () => media.eject(await this.#requireNow(id, signal), signal)),
    };
  }

  /** Does one thing at a time with a machine. */
  async #alone<T>(id: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    using _ = await this.#locks.take(id, signal);
    return await work();
  }

  /**
   * Undoes an override that the last start used up.
   *
   * A refusal of the cloud stops a start only if the machine would start from another device than its client expects:
   * metal3 must be able to switch hosts on without the right to set boot orders.
   *
   * @returns Whether an override waits for the next start
   */
  async #settleBefore(
    machine: ManagedMachine,
    action: PowerAction,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { override } = this.#store.find(machine) ?? (await this.#store.read(machine, signal));
    if (override === undefined) return false;
    try {
      return (await this.#overrides.settle(machine, signal)) === "waits";
    } catch (error) {
      if (signal.aborted) throw error;
      if (startsNothing(action)) return true;
      if (!isRefusedForGood(error)) throw error;
      if (!error.spoils(action)) return false;
      throw new RefusedPowerError(error.refusal, error.describeStart(machine.name));
    }
  }

  async #changeFirmware(
    machine: ManagedMachine,
    { firmware }: BootOverrideChange,
    signal: AbortSignal,
  ): Promise<void> {
    if (firmware === undefined) return;
    const seen = await this.#requireSeen(machine, signal);
    if (seen.firmware === firmware) return;
    if (!listFirmwares(machine, seen).includes(firmware)) {
      const why = "what is on its disk from its template needs that (boot: Template)";
      const message = `The machine has ${seen.firmware}, and keeps it: ${why}`;
      throw new RefusedChangeError("firmware", message);
    }
    const { power, fence, log } = this.#options;
    await power.setFirmware(machine.id, firmware, fence, signal);
    log.info("A management controller set the firmware of a machine", {
      machine: machine.name,
      firmware,
    });
  }

  /** The machine as it is now. The name tells whether the ID is that of another machine. */
  async #requireSeen({ id, name }: ManagedMachine, signal: AbortSignal): Promise<MachineReading> {
    const seen = await this.#options.power.read(id, signal);
    if (seen?.name === name) return seen;
    throw toMissing();
  }

  /** The machines that clients may use. */
  #listMachines(): readonly ManagedMachine[] {
    return this.#options.listMachines().filter((one) => !this.#released.has(toMachineKey(one)));
  }

  #isListed(id: string): boolean {
    return this.#listMachines().some((one) => one.id === id);
  }

  /** The machine that the cloud shows under an ID with this name. Others that are listed with the ID are wrong. */
  #find(id: string, name: string | undefined): ManagedMachine | undefined {
    return this.#listMachines().find((one) => one.id === id && one.name === name);
  }

  async #require(id: string, signal: AbortSignal): Promise<ManagedMachine> {
    if (!this.#isListed(id)) throw toMissing();
    const machine = this.#find(id, await this.#options.power.readName(id, signal));
    if (machine) return machine;
    throw toMissing();
  }

  /** As {@linkcode #require}, by what the cloud shows now. */
  async #requireNow(id: string, signal: AbortSignal): Promise<ManagedMachine> {
    const found = await this.#readNow(id, signal);
    if (found) return found.machine;
    throw toMissing();
  }

  /** The machine that the cloud shows now. `undefined`: none that is listed */
  async #readNow(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly machine: ManagedMachine; readonly seen: MachineReading } | undefined> {
    if (!this.#isListed(id)) return undefined;
    const seen = await this.#options.power.read(id, signal);
    const machine = this.#find(id, seen?.name);
    return machine && seen && { machine, seen };
  }

  async #answer<T>(work: () => Promise<T>): Promise<ManagementAnswer<T>> {
    try {
      return { kind: "done", value: await work() };
    } catch (error) {
      const answer = toAnswer(error);
      if (answer === undefined) throw error;
      this.#options.log.warn("A management controller cannot do what a client asks", { error });
      return answer;
    }
  }
}

function listFirmwares(
  { isInstalled }: ManagedMachine,
  { firmware }: Pick<MachineReading, "firmware">,
): ManagedReading["firmwares"] {
  if (firmware === "unknown") return [];
  return isInstalled ? ["bios", "uefi"] : [firmware];
}

function toMissing(): RefusedPowerError {
  return new RefusedPowerError("notOurs", "The machine does not exist, or is not complete");
}

function toAnswer(error: unknown): Exclude<ManagementAnswer<never>, { kind: "done" }> | undefined {
  if (error instanceof ImageError) {
    return { kind: "refused", refusal: "image", message: error.message };
  }
  if (error instanceof RefusedPowerError || error instanceof RefusedChangeError) {
    return { kind: "refused", refusal: error.refusal, message: error.message };
  }
  if (error instanceof CloudError) return { kind: "silent", message: error.message };
  if (error instanceof KubeError) {
    return { kind: "silent", message: "The API server of Kubernetes does not answer, or refuses" };
  }
  if (!(error instanceof LeadershipLostError)) return undefined;
  return { kind: "silent", message: "This process does not lead any more; another one answers" };
}
