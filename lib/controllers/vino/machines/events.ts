/**
 * Events, metrics and log records about the machines of Vinos. What is about one machine stands on its VinoMachine.
 * @module
 */
import type { Logger } from "../../../core/log.ts";
import { formatDuration } from "../../../core/text/values.ts";
import { toKey } from "../../../kube/cache/store.ts";
import type { EventRecorder } from "../../../kube/events/events.ts";
import { type EventWord, toEvent } from "../../../kube/events/words.ts";
import { joinSome, nameSome } from "../../kinds/problems.ts";
import type { RestoredAddress } from "../addresses/types.ts";
import type { VinoMetrics } from "../metrics.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { Vino } from "../resource/vino.ts";
import type { MachineEntry, MachineKey } from "../resource/vino_machine.ts";
import type { MachineReport } from "../status/machine_status.ts";
import { EVENT_WORDS } from "../words.ts";
import type { VinoMachines } from "./vino_machines.ts";

/** What a {@linkcode MachineEvents} needs. */
interface MachineEventsOptions {
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: Pick<VinoMetrics, "countMachine">;
  readonly objects: Pick<VinoMachines, "find" | "warn">;
  /** Records a Warning on a Vino, unless it was recorded a short time ago. @returns Whether it was */
  readonly warn: (vino: Vino, word: EventWord, message: string) => boolean;
}

/** Which machine, and its name in the cloud. */
type EventSubject = MachineKey & Pick<MachineEntry, "name">;

/** Why a machine cannot be made or changed now. */
interface MachineFailure {
  /** A sentence without a full stop. */
  readonly message: string;
  /** When Landfall tries again, in milliseconds from now. */
  readonly retryInMs: number;
}

/** What has Events of its own. */
const TOLD_ELSEWHERE: ReadonlySet<string | undefined> = new Set([
  EVENT_WORDS.hostDiffers.reason,
  EVENT_WORDS.addressesDiffer.reason,
]);

/** Records what happens to machines. */
export class MachineEvents {
  readonly #options: MachineEventsOptions;

  constructor(options: MachineEventsOptions) {
    this.#options = options;
  }

  /** A machine is being made. */
  recordCreated(vino: Vino, machine: EventSubject): void {
    const message = `Landfall has begun to make machine ${machine.name}`;
    this.#record(vino, machine, EVENT_WORDS.machineCreated, message);
    this.#options.metrics.countMachine("created");
  }

  /** A machine was changed, or started for the first time. */
  recordChanged(vino: Vino, machine: EventSubject, step: string): void {
    const message = `Landfall changed machine ${machine.name}: ${step}`;
    this.#record(vino, machine, EVENT_WORDS.machineChanged, message);
  }

  /** A machine was removed. */
  recordRemoved(vino: Vino, machine: EventSubject): void {
    const message = `Landfall removed machine ${machine.name}`;
    this.#record(vino, machine, EVENT_WORDS.machineRemoved, message);
    this.#options.metrics.countMachine("removed");
  }

  /** A person said that the pool of a machine is gone for good. */
  recordForgotten(vino: Vino, machine: EventSubject): void {
    const why = "a person said that its pool is gone for good";
    const message = `Landfall forgets machine ${machine.name}: ${why}`;
    this.#warn(vino, machine, EVENT_WORDS.machineForgotten, message);
    this.#options.log.warn(message, { vino: toKey(vino) });
  }

  /** A user deleted IPPools, or removed addresses from them, that machines have. */
  recordRestored(vino: Vino, restored: readonly RestoredAddress[]): void {
    for (const [pool, all] of Map.groupBy(restored, (one) => one.pool)) {
      const ips = nameSome(all.map(({ ip }) => ip));
      const message = all.some(({ isPoolNew }) => isPoolNew)
        ? `IPPool ${pool} did not exist any more. Landfall made it again with the addresses that machines have: ${ips}`
        : `IPPool ${pool} did not list addresses that machines have any more. Landfall wrote them again: ${ips}`;
      this.#options.warn(vino, EVENT_WORDS.poolVanished, message);
      this.#options.log.warn(message, { vino: toKey(vino) });
    }
  }

  /**
   * A Vino ends, and its machines stay in the cloud.
   *
   * @param machines Their names
   * @param isWithoutCloud Whether the cloud did not say which there are
   */
  recordEnd(vino: Vino, machines: readonly string[], isWithoutCloud: boolean): void {
    const names = nameSome(machines);
    if (names === "" && !isWithoutCloud) return;
    const why = "because deletionPolicy is Retain";
    const what = isWithoutCloud
      ? "The Vino ends without an answer of the cloud. What exists of its machines stays, and so do its " +
        `addresses, ${why}`
      : `The Vino ends. Its machines stay in the cloud, with their addresses, ${why}`;
    const message = names === "" ? what : `${what}: ${names}`;
    this.#record(vino, undefined, EVENT_WORDS.machineKept, message);
  }

  /** A complete machine is gone, and Landfall did not remove it. @param use What uses its BareMetalHost */
  recordVanished(vino: Vino, machine: EventSubject, use: string | undefined): void {
    const what =
      use === undefined ? "Landfall makes it again" : `Landfall does not make it: ${use}`;
    const message = `Machine ${machine.name} does not exist any more. ${what}`;
    this.#warn(vino, machine, EVENT_WORDS.machineVanished, message);
    this.#options.metrics.countMachine("vanished");
  }

  /** A step failed, or the cloud could not make a machine. An Event and a log record say so if it is new. */
  recordFailed(vino: Vino, machine: EventSubject, { message, retryInMs }: MachineFailure): void {
    this.#options.metrics.countMachine("failed");
    const { name } = machine;
    const text = message.includes(name) ? message : `${name}: ${message}`;
    if (!this.#warn(vino, machine, EVENT_WORDS.machineFailed, text)) return;
    this.#options.log.warn("Cannot make or change a machine; trying again", {
      vino: toKey(vino),
      machine: name,
      reason: message,
      retryIn: formatDuration(Math.max(0, Math.ceil(retryInMs / 1_000)) * 1_000),
    });
  }

  /** Records what became of a machine. @param old What its object said before. Absent: it had none */
  recordChange(vino: Vino, report: MachineReport, old: MachineEntry | undefined): void {
    const { entry, isWanted, problems, outcome, isKept = false } = report;
    const { name, state, message = "" } = entry;
    if (isWanted && state === "Ready" && old?.state !== "Ready") {
      this.#record(vino, entry, EVENT_WORDS.machineReady, `Machine ${name} is complete`);
      this.#options.metrics.countMachine("completed");
    }
    // At its end, a Vino names all of them at once.
    const isLeaving = vino.metadata.deletionTimestamp !== undefined;
    if (isKept && !isLeaving && old?.message !== message) {
      this.#record(vino, entry, EVENT_WORDS.machineKept, `${name}: ${message}`);
    }
    const decision = problems.find(({ kind }) => kind === "decision");
    if (decision !== undefined && (state !== old?.state || message !== old.message)) {
      this.#warn(vino, entry, EVENT_WORDS.machineBlocked, `${name}: ${decision.message}`);
    }
    if (isWanted && outcome !== undefined) this.#recordHost(vino, entry, outcome, old);
    const [first] = problems;
    const isTold = TOLD_ELSEWHERE.has(first?.reason);
    if (isWanted && first?.kind === "notice" && !isTold && message !== old?.message) {
      this.#warn(vino, entry, EVENT_WORDS.machineDiffers, first.message);
    }
  }

  #recordHost(
    vino: Vino,
    machine: EventSubject & Pick<MachineEntry, "machineId">,
    { name, state, message, isMade, differences = [] }: HostOutcome,
    before: MachineEntry | undefined,
  ): void {
    const { hostVanished, hostTaken, hostDiffers } = EVENT_WORDS;
    // The host of another machine Landfall deleted itself.
    const isSame = before?.machineId === machine.machineId;
    if (isMade && isSame && before?.bareMetalHost === "Published") {
      const what = `BareMetalHost ${name} did not exist any more. Landfall made it again`;
      this.#warn(vino, machine, hostVanished, what);
    }
    const isTaken = state === "NameTaken" || state === "Refused";
    if (isTaken && before?.bareMetalHost !== state) {
      const what = message ?? `BareMetalHost ${name} cannot be published`;
      this.#warn(vino, machine, hostTaken, what);
    }
    if (differences.length > 0) this.#warn(vino, machine, hostDiffers, joinSome(differences));
  }

  #warn(vino: Vino, machine: EventSubject, word: EventWord, message: string): boolean {
    const { objects, warn } = this.#options;
    const object = objects.find(vino, machine);
    return object === undefined ? warn(vino, word, message) : objects.warn(object, word, message);
  }

  /** @param machine Absent: it is about the whole Vino */
  #record(vino: Vino, machine: EventSubject | undefined, word: EventWord, message: string): void {
    const { events, objects } = this.#options;
    const object = machine && objects.find(vino, machine);
    events.record(object ?? vino, toEvent(word, message));
    this.#options.log.info(message, { vino: toKey(vino) });
  }
}
