/**
 * Nodes that register all the time, to show that a controller at work misses nothing while something changes under it.
 * @module
 */
import { expect } from "bun:test";
import type { ClusterRig, Controller } from "./cluster_rig.ts";

const PERIOD_MS = 200;

/** Registers Nodes until it is stopped. */
export class Load {
  readonly #rig: ClusterRig;
  readonly #stop = new AbortController();
  readonly #names: string[] = [];
  readonly #running: Promise<void>;

  /** @param addVm Creates the machine of a Node in the cloud, under the Node's name */
  constructor(rig: ClusterRig, addVm: (name: string) => void) {
    this.#rig = rig;
    this.#running = this.#run(addVm);
  }

  /** Ends it. Returns the names of all Nodes that it registered. */
  async stop(): Promise<readonly string[]> {
    this.#stop.abort();
    await this.#running;
    return this.#names;
  }

  /** Ends it, waits until all its Nodes are served, and looks at what the controller counted since its start. */
  async expectNoFailure(controller: Controller | undefined): Promise<void> {
    const names = await this.stop();
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) await this.#rig.waitForNode(name);
    const metrics = await (await fetch(`${controller?.debugUrl}/metrics`)).text();
    const outcomes = listLabels(metrics, "landfall_reconciles_total", "outcome");
    expect(outcomes).toContain("ok");
    expect(outcomes.filter((outcome) => !["ok", "conflict"].includes(outcome))).toEqual([]);
    expect(listLabels(metrics, "landfall_inventory_refreshes_total", "result")).toEqual(["ok"]);
  }

  async #run(addVm: (name: string) => void): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const name = `load-${this.#names.length}`;
      addVm(name);
      await this.#rig.register(name);
      this.#names.push(name);
      await Bun.sleep(PERIOD_MS);
    }
  }
}

/** Values of a label that a metric was ever counted with. */
function listLabels(metrics: string, metric: string, label: string): string[] {
  const values = new Set<string>();
  for (const line of metrics.split("\n")) {
    if (!line.startsWith(`${metric}{`)) continue;
    const [, value = ""] = new RegExp(`${label}="([^"]*)"`).exec(line) ?? [];
    values.add(value);
  }
  return [...values];
}
