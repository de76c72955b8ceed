/**
 * Events, metrics and log records about the machines of Vinos.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { Logger } from "../../../core/log.ts";
import { formatDuration } from "../../../core/text/values.ts";
import { WarningThrottle } from "../../../engine/throttle.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { EventRecorder } from "../../../kube/events/events.ts";
import { type EventWord, toEvent } from "../../../kube/events/words.ts";
import { findCondition } from "../../kinds/conditions.ts";
import { joinSome, nameSome } from "../../kinds/problems.ts";
import type { RestoredAddress } from "../addresses/types.ts";
import type { VinoMetrics } from "../metrics.ts";
import { toHostName } from "../hosts/names.ts";
import type { HostOutcome } from "../hosts/types.ts";
import type { Vino, VinoMachine } from "../resource/vino.ts";
import type { MachinesReport } from "../status/outcome.ts";
import { EVENT_WORDS } from "../words.ts";

/** What a {@linkcode MachineEvents} needs. */
interface MachineEventsOptions {
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: Pick<VinoMetrics, "countMachine">;
  /** Records a Warning, unless it was recorded a short time ago. */
  readonly warn: (vino: Vino, word: EventWord, message: string) => void;
}

/** Why a machine cannot be made or changed now. */
interface MachineFailure {
  /** A sentence without a full stop. */
  readonly message: string;
  /** When Landfall tries again, in milliseconds from now. */
  readonly retryInMs: number;
}

/** What one Event says about all machines. */
const TOLD_AT_ONCE: ReadonlySet<string | undefined> = new Set([
  EVENT_WORDS.hostDiffers.reason,
  EVENT_WORDS.addressesDiffer.reason,
]);

/** Records what happens to machines. */
export class MachineEvents {
  readonly #options: MachineEventsOptions;
  /** What was said of each machine. */
  readonly #failures: WarningThrottle;

  constructor(options: MachineEventsOptions) {
    this.#options = options;
    this.#failures = new WarningThrottle(options.clock);
  }

  /** Forgets a Vino that is gone. */
  forget(key: Key): void {
    this.#failures.forget(key);
  }

  /** A machine is being made. */
  recordCreated(vino: Vino, name: string): void {
    this.#record(vino, EVENT_WORDS.machineCreated, `Landfall has begun to make machine ${name}`);
    this.#options.metrics.countMachine("created");
  }

  /** A machine was changed, or started for the first time. */
  recordChanged(vino: Vino, name: string, step: string): void {
    this.#record(vino, EVENT_WORDS.machineChanged, `Landfall changed machine ${name}: ${step}`);
  }

  /** A machine was removed. */
  recordRemoved(vino: Vino, name: string): void {
    this.#record(vino, EVENT_WORDS.machineRemoved, `Landfall removed machine ${name}`);
    this.#options.metrics.countMachine("removed");
  }

  /** A person said that the pool of a machine is gone for good. */
  recordForgotten(vino: Vino, name: string): void {
    const why = "a person said that its pool is gone for good";
    const message = `Landfall forgets machine ${name}: ${why}`;
    this.#options.warn(vino, EVENT_WORDS.machineForgotten, message);
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
   * @param isWithoutCloud Whether the cloud did not say which there are
   */
  recordEnd(
    vino: Vino,
    { machines }: Pick<MachinesReport, "machines">,
    isWithoutCloud: boolean,
  ): void {
    const names = nameSome(machines.map(({ entry }) => entry.name));
    if (names === "" && !isWithoutCloud) return;
    const why = "because deletionPolicy is Retain";
    const what = isWithoutCloud
      ? "The Vino ends without an answer of the cloud. What exists of its machines stays, and so do its " +
        `addresses, ${why}`
      : `The Vino ends. Its machines stay in the cloud, with their addresses, ${why}`;
    this.#record(vino, EVENT_WORDS.machineKept, names === "" ? what : `${what}: ${names}`);
  }

  /** A complete machine is gone, and Landfall did not remove it. @param use What uses its BareMetalHost */
  recordVanished(vino: Vino, name: string, use: string | undefined): void {
    const what =
      use === undefined ? "Landfall makes it again" : `Landfall does not make it: ${use}`;
    const message = `Machine ${name} does not exist any more. ${what}`;
    this.#options.warn(vino, EVENT_WORDS.machineVanished, message);
    this.#options.metrics.countMachine("vanished");
  }

  /** A step failed, or the cloud could not make a machine. An Event and a log record say so if it is new. */
  recordFailed(vino: Vino, name: string, { message, retryInMs }: MachineFailure): void {
    this.#options.metrics.countMachine("failed");
    const key = toKey(vino);
    // One memory for each machine: what fails may differ from machine to machine.
    if (
      !this.#failures.passes(key, { ...toEvent(EVENT_WORDS.machineFailed, message), reason: name })
    ) {
      return;
    }
    const text = message.includes(name) ? message : `${name}: ${message}`;
    this.#options.warn(vino, EVENT_WORDS.machineFailed, text);
    this.#options.log.warn("Cannot make or change a machine; trying again", {
      vino: key,
      machine: name,
      reason: message,
      retryIn: formatDuration(Math.max(0, Math.ceil(retryInMs / 1_000)) * 1_000),
    });
  }

  /** Records what differs from the status so far. Call it right before the status is written. */
  recordChanges(vino: Vino, { machines, hosts, contraction }: MachinesReport): void {
    const hostOf = new Map(hosts.map((one) => [one.name, one]));
    const before = new Map((vino.status?.machines ?? []).map((one) => [one.name, one]));
    const isLeaving = vino.metadata.deletionTimestamp !== undefined;
    for (const { entry, isWanted, problems, isKept = false } of machines) {
      const { name, state, message = "" } = entry;
      const old = before.get(name);
      if (isWanted && state === "Ready" && old?.state !== "Ready") {
        this.#record(vino, EVENT_WORDS.machineReady, `Machine ${name} is complete`);
        this.#options.metrics.countMachine("completed");
      }
      // At its end, a Vino names all of them at once.
      if (isKept && !isLeaving && old?.message !== message) {
        this.#record(vino, EVENT_WORDS.machineKept, `${name}: ${message}`);
      }
      const decision = problems.find(({ kind }) => kind === "decision");
      if (decision !== undefined && (state !== old?.state || message !== old.message)) {
        this.#options.warn(vino, EVENT_WORDS.machineBlocked, `${name}: ${decision.message}`);
      }
      const host = hostOf.get(toHostName({ vino: vino.metadata.name, ...entry }));
      if (isWanted && host !== undefined) this.#recordHost(vino, host, entry, old);
      const [first] = problems;
      const isTold = TOLD_AT_ONCE.has(first?.reason);
      if (isWanted && first?.kind === "notice" && !isTold && message !== old?.message) {
        this.#options.warn(vino, EVENT_WORDS.machineDiffers, first.message);
      }
    }
    const differences = hosts.flatMap((one) => one.differences ?? []);
    if (differences.length > 0) {
      this.#options.warn(vino, EVENT_WORDS.hostDiffers, joinSome(differences));
    }
    this.#recordBmcProblems(vino, hosts);
    if (contraction !== undefined) {
      this.#options.warn(vino, EVENT_WORDS.contractionBlocked, contraction.message);
    }
  }

  #recordBmcProblems(vino: Vino, hosts: readonly HostOutcome[]): void {
    const problems = hosts.flatMap((one) => one.bmcProblem ?? []);
    if (problems.length === 0) return;
    const message = joinSome([...new Set(problems)]);
    const { bmcCredentialsUnusable: word } = EVENT_WORDS;
    this.#options.warn(vino, word, message);
    if (findCondition(vino.status, "HostsPublished")?.reason === word.reason) return;
    this.#options.log.warn("Hosts get no management controller", { vino: toKey(vino), message });
  }

  #recordHost(
    vino: Vino,
    { name, state, message, isMade }: HostOutcome,
    { machineId }: Pick<VinoMachine, "machineId">,
    before: VinoMachine | undefined,
  ): void {
    const { hostVanished, hostTaken } = EVENT_WORDS;
    // The host of another machine Landfall deleted itself.
    const isSame = before?.machineId === machineId;
    if (isMade && isSame && before?.bareMetalHost === "Published") {
      const what = `BareMetalHost ${name} did not exist any more. Landfall made it again`;
      this.#options.warn(vino, hostVanished, what);
    }
    const isTaken = state === "NameTaken" || state === "Refused";
    if (isTaken && before?.bareMetalHost !== state) {
      this.#options.warn(vino, hostTaken, message ?? `BareMetalHost ${name} cannot be published`);
    }
  }

  #record(vino: Vino, word: EventWord, message: string): void {
    this.#options.events.record(vino, toEvent(word, message));
    this.#options.log.info(message, { vino: toKey(vino) });
  }
}
