/**
 * Reports to the service manager that the process has started, what it does, and that it is not stuck.
 * @module
 */
import { type Clock, formatTime, Sleeper } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { Notification, Notifier } from "../host/notify.ts";
import { type Check, holds } from "../http/probes.ts";
import type { AppOptions } from "./options.ts";
import { type Parts, toChecks } from "./parts.ts";

/** The state of the process; read from memory. */
export interface ProcessState {
  /** Whether this process leads, for each Lease that it competes for. None without election. */
  readonly elections: readonly { readonly lease: string; readonly isLeading: boolean }[];
  /** How many Nodes the store has; absent without a cloud. */
  readonly nodes?: number;
  /** Age of the inventory in use, in milliseconds; absent before the first. */
  readonly inventoryAgeMs?: number;
  /** Whether the last refresh of the inventory failed. */
  readonly isCloudFailing: boolean;
}

/** What supervision needs. */
interface SupervisionOptions {
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly log: Logger;
  /** The checks of `/readyz` decide when the start is over, those of `/livez` whether the watchdog gets a message. */
  readonly checks: readonly Check[];
  readonly readState: () => ProcessState;
}

/** During the start: the time between two checks whether it is over. */
const START_POLL_MS = 200;
/** Time between two status messages while the kind of state stays the same. */
const STATUS_INTERVAL_MS = 30_000;
/**
 * How much more time for the start each request asks for. Landfall asks again in time: a restart does not help against
 * a silent cloud.
 */
const START_EXTENSION_MS = 90_000;

/** Supervises the process that has these parts. */
export function supervise(
  notifier: Notifier,
  { clock, log }: Pick<AppOptions, "clock" | "log">,
  parts: Parts,
  signal: AbortSignal,
): Supervision {
  const { cloud, electors } = parts;
  const source = cloud?.source;
  const readState = (): ProcessState => ({
    elections: electors.map(({ lease: { name }, isLeading }) => ({ lease: name, isLeading })),
    ...(cloud && { nodes: cloud.nodes.size }),
    ...(source?.ageMs !== undefined && { inventoryAgeMs: source.ageMs }),
    isCloudFailing: source?.lastError !== undefined,
  });
  const options = { notifier, clock, log, checks: toChecks(parts), readState };
  const supervision = new Supervision(options, signal);
  source?.subscribe(() => supervision.notice());
  return supervision;
}

/**
 * Sends `READY=1` once every check of `/readyz` passes (also for a standby), `STATUS=` every 30 s and when the kind of
 * state changes, `WATCHDOG=1` at half the required interval while every check of `/livez` passes, and `STOPPING=1` when
 * the signal aborts. Then it ends.
 */
export class Supervision {
  /** Resolves when the service manager has the end message. Never rejects. */
  readonly ended: Promise<void>;
  readonly #options: SupervisionOptions;
  readonly #intervalMs: number;
  #isReady = false;
  #isAlive = true;
  #kind = "";
  #statusAtMs = -Infinity;
  readonly #sleeper: Sleeper;

  constructor(options: SupervisionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
    const watchdogMs = options.notifier.watchdogMs ?? Infinity;
    this.#intervalMs = Math.min(STATUS_INTERVAL_MS, watchdogMs / 2);
    this.ended = this.#run(signal);
  }

  /** Checks the state now: its kind may have changed. */
  notice(): void {
    if (this.#readKind() !== this.#kind) this.#sleeper.wake();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { notifier, log } = this.#options;
    try {
      while (!signal.aborted) {
        const notification = this.#next();
        if (Object.keys(notification).length > 0) await notifier.notify(notification);
        await this.#sleeper.sleep(this.#isReady ? this.#intervalMs : START_POLL_MS, signal);
      }
    } catch (error) {
      log.error("Supervision failed", { error });
    }
    await notifier.notify({ STOPPING: "1", STATUS: "stopping" });
  }

  /** Lists all messages that are due. */
  #next(): Notification {
    const isStarted = !this.#isReady && this.#holds("readyz");
    this.#isReady ||= isStarted;
    const status = this.#nextStatus();
    const isOver = status !== undefined && !this.#isReady;
    return {
      ...(isStarted && { READY: "1" }),
      ...(isOver && { EXTEND_TIMEOUT_USEC: String(START_EXTENSION_MS * 1_000) }),
      ...(status !== undefined && { STATUS: status }),
      ...(this.#isReady && this.#isWatchdogDue() && { WATCHDOG: "1" }),
    };
  }

  #nextStatus(): string | undefined {
    const { clock, readState } = this.#options;
    const nowMs = clock.monotonic();
    const kind = this.#readKind();
    if (kind === this.#kind && nowMs - this.#statusAtMs < STATUS_INTERVAL_MS) return undefined;
    this.#kind = kind;
    this.#statusAtMs = nowMs;
    const { nodes, inventoryAgeMs } = readState();
    if (nodes === undefined) return kind;
    // The status shows a time of day, because an age would soon be wrong.
    const inventory =
      inventoryAgeMs === undefined
        ? "no inventory yet"
        : `inventory of ${formatTime(clock.now() - inventoryAgeMs)}`;
    return `${kind}; Nodes: ${nodes}; ${inventory}`;
  }

  #readKind(): string {
    const { checks, readState } = this.#options;
    const { elections, isCloudFailing } = readState();
    if (!this.#isReady) {
      const awaited = checks.filter((check) => check.probes.includes("readyz") && !holds(check));
      return `starting, waiting for ${awaited.map(({ name }) => name).join(", ")}`;
    }
    return `${toRole(elections)}${isCloudFailing ? ", but the cloud does not answer" : ""}`;
  }

  #isWatchdogDue(): boolean {
    const { notifier, log } = this.#options;
    if (notifier.watchdogMs === undefined) return false;
    const isAlive = this.#holds("livez");
    if (isAlive !== this.#isAlive) log.warn("Health changed", { isAlive });
    this.#isAlive = isAlive;
    return isAlive;
  }

  #holds(probe: "readyz" | "livez"): boolean {
    return this.#options.checks.every((check) => !check.probes.includes(probe) || holds(check));
  }
}

/** `leading`, or `leading for one Lease, standby for another`; `running` without election. */
function toRole(elections: ProcessState["elections"]): string {
  const [first, ...more] = elections.map(({ lease, isLeading }) => {
    const role = isLeading ? "leading" : "standby";
    return { role, text: `${role} for ${lease}` };
  });
  if (first === undefined) return "running";
  if (more.every(({ role }) => role === first.role)) return first.role;
  return [first, ...more].map(({ text }) => text).join(", ");
}
