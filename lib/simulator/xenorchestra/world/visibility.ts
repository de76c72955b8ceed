/**
 * Which records clients see now: not those of a pool that is lost, hidden or not loaded.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { Collection, XoRecord } from "../records.ts";
import { type Loss, Outages } from "./outages.ts";

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
