/**
 * Metrics of the Vino controller.
 * @module
 */
import { type MetricsRegistry, setCounts } from "../../core/metrics.ts";
import { MACHINE_STATES, type MachineEntry } from "./resource/vino_machine.ts";

/** How a Vino stands. */
export type VinoState = "ready" | "working" | "waiting" | "failing" | "deleting";

const CHANGES = ["created", "completed", "removed", "vanished", "failed"] as const;
/** What happened to a machine. */
type MachineChange = (typeof CHANGES)[number];

/** The metrics of the Vino controller. */
export interface VinoMetrics {
  /** Counts what happened to a machine. */
  countMachine(change: MachineChange): void;
  /** Sets the source of the gauges. Each collection reads it. */
  readFrom(source: {
    listStates(): Iterable<VinoState>;
    listMachineStates(): Iterable<MachineEntry["state"]>;
  }): void;
}

const STATES: readonly VinoState[] = ["ready", "working", "waiting", "failing", "deleting"];

/** Registers the metrics of the Vino controller. */
export function createVinoMetrics(registry: MetricsRegistry): VinoMetrics {
  const changes = registry.counter({
    name: "landfall_vino_machine_changes_total",
    help: `Machines of Vinos by what happened to them: ${CHANGES.join(", ")}.`,
  });
  // The first one must be a rise.
  for (const change of CHANGES) changes.inc({ change }, 0);
  const states = registry.gauge({
    name: "landfall_vinos",
    help: "Vinos by state: ready, working, waiting, failing, deleting.",
  });
  const machines = registry.gauge({
    name: "landfall_vino_machines",
    help: `Machines of Vinos by state: ${MACHINE_STATES.join(", ")}.`,
  });
  return {
    countMachine: (change) => changes.inc({ change }),
    readFrom: (source) =>
      registry.onCollect(() => {
        setCounts(states, "state", source.listStates(), STATES);
        setCounts(machines, "state", source.listMachineStates(), MACHINE_STATES);
      }),
  };
}
