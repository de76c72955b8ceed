/**
 * Which records clients see now: not those of a pool that is lost, hidden or not loaded.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { Collection, XoRecord } from "../records.ts";

const MACHINES: ReadonlySet<Collection> = new Set(["vms", "vm-controllers", "vm-templates"]);

/** What hides records. */
export class Visibility {
  readonly outages: Outages;
  /** Pools whose machines are not shown, while the pool and its hosts are. */
  readonly vmlessPools: Set<string> = new Set();
  /** Objects that the user has no right to see. */
  readonly forbidden: Set<string> = new Set();
  /** Until when single objects are not shown, in monotonic milliseconds. */
  readonly hiddenUntilMs: Map<string, number> = new Map();
  /** Machines as they were while they were templates, by ID: clients saw only that. */
  readonly provisioned: Map<string, XoRecord> = new Map();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.outages = new Outages(clock);
  }

  /** Loses the connection to a pool. When it is back, all objects are as new. */
  lose(poolId: string, loss: Loss): void {
    this.outages.lose(poolId, loss);
    for (const [id, before] of this.provisioned) {
      if (before["$pool"] === poolId) this.provisioned.delete(id);
    }
  }

  /** A record as clients see it; `undefined` if they do not. */
  show(collection: Collection, record: XoRecord): XoRecord | undefined {
    if (collection === "servers") return this.#showServer(record);
    const poolId = String(record["$pool"]);
    if (this.outages.isHidden(poolId)) return undefined;
    if (MACHINES.has(collection) && this.vmlessPools.has(poolId)) return undefined;
    const isHidden = this.#clock.monotonic() < (this.hiddenUntilMs.get(record.id) ?? 0);
    return isHidden ? undefined : record;
  }

  #showServer(server: XoRecord): XoRecord {
    const outage = this.outages.findDisconnected(String(server["poolId"]));
    if (outage === undefined) return server;
    const { poolId: _poolId, master: _master, ...rest } = server;
    // After a restart nothing has failed yet. A lost connection tries again and reports its error.
    const error = outage.isLost ? { error: { code: "ECONNREFUSED", name: "Error" } } : {};
    return { ...rest, id: server.id, ...error, status: "connecting" };
  }
}

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
class Outages {
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
