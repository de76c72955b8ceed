/**
 * Connections of Xen Orchestra to its pools: which are lost or not open yet, and until when.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";

/** How a connection is lost. */
export interface Loss {
  /** How long. @default {until the connection is restored} */
  readonly forMs?: number;
  /** How long the objects stay away after that; the real server needs up to 60,000. @default {0} */
  readonly lingerMs?: number;
  /** How long the objects are still shown, because the server has not noticed. @default {0} */
  readonly noticedAfterMs?: number;
}

interface Outage {
  /** When it shows no objects any more, in monotonic milliseconds. */
  readonly fromMs: number;
  /** When it shows the objects again, in monotonic milliseconds. */
  readonly untilMs: number;
  /** From when on `/servers` says `connected`, in monotonic milliseconds. */
  readonly connectedMs: number;
  /** Whether the connection was lost. Otherwise it is not open yet. */
  readonly isLost: boolean;
}

/** What `/servers` says about a connection that is not open. */
interface Disconnected {
  readonly isLost: boolean;
}

/** The outages of all pools. */
export class Outages {
  readonly #clock: Clock;
  readonly #byPool = new Map<string, Outage>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Loses the connection to a pool. */
  lose(poolId: string, { forMs = Infinity, lingerMs = 0, noticedAfterMs = 0 }: Loss): void {
    const nowMs = this.#clock.monotonic();
    const untilMs = nowMs + forMs + lingerMs;
    const fromMs = nowMs + noticedAfterMs;
    this.#byPool.set(poolId, { fromMs, untilMs, connectedMs: untilMs, isLost: true });
  }

  /** Opens a connection for the first time: objects are shown later than it is said to be connected. */
  open(poolId: string, connectedAfterMs: number, loadedAfterMs: number): void {
    const nowMs = this.#clock.monotonic();
    const untilMs = nowMs + loadedAfterMs;
    const connectedMs = nowMs + connectedAfterMs;
    this.#byPool.set(poolId, { fromMs: nowMs, untilMs, connectedMs, isLost: false });
  }

  /** Whether the objects of a pool are not shown now. */
  isHidden(poolId: string): boolean {
    const outage = this.#byPool.get(poolId);
    if (outage === undefined) return false;
    const nowMs = this.#clock.monotonic();
    return outage.fromMs <= nowMs && nowMs < outage.untilMs;
  }

  /** Whether the hypervisor of a pool cannot be asked now. */
  isCut(poolId: string): boolean {
    return this.#clock.monotonic() < (this.#byPool.get(poolId)?.untilMs ?? 0);
  }

  /** Why the connection to a pool is not open; `undefined` if it is. */
  findDisconnected(poolId: string): Disconnected | undefined {
    const outage = this.#byPool.get(poolId);
    if (outage === undefined || this.#clock.monotonic() >= outage.connectedMs) return undefined;
    return { isLost: outage.isLost };
  }
}
