/**
 * What is measured, what it may cost, and what the existing Go controller needs for the same.
 * @module
 */

/** One line of the table. */
export interface Budget {
  readonly title: string;
  readonly unit: "s" | "MiB" | "requests" | "writes" | "ms" | "KiB";
  /** Most that it may be; absent: shown for information. */
  readonly max?: number;
  /** Figure of the Go controller (v1.2.0 on the same simulators), as text. */
  readonly reference?: string;
}

/** Name of a figure. */
export type BudgetName =
  | "start"
  | "ready"
  | "rest"
  | "restAnonymous"
  | "initialise"
  | "cpu"
  | "cloudRequests"
  | "writes"
  | "peak1000"
  | "settled100"
  | "idleCloud100"
  | "idleCpu100"
  | "beatingCpu100"
  | "settled1000"
  | "idleCloud1000"
  | "idleRequests1000"
  | "idleCpu1000"
  | "beatingCpu1000"
  | "migration"
  | "shutdown"
  | "deletion"
  | "anonymous1000"
  | "initialise5000"
  | "peak5000"
  | "settled5000"
  | "anonymous5000"
  | "idleCloud5000"
  | "idleRequests5000"
  | "idleCpu5000"
  | "beatingCpu5000"
  | "restartReady"
  | "restartPeak"
  | "restartSettled"
  | "toInventory"
  | "planNode"
  | "storePerNode";

/** Every figure of the benchmark, in the order in which it is printed. */
export const BUDGETS: Readonly<Record<BudgetName, Budget>> = {
  start: { title: "start to the first probe answered, median", unit: "s", max: 0.15 },
  ready: { title: "start to ready, median", unit: "s" },
  rest: { title: "resident, no Nodes", unit: "MiB", max: 45, reference: "55" },
  restAnonymous: { title: "  of it anonymous", unit: "MiB" },
  settled100: { title: "resident, 100 Nodes settled", unit: "MiB" },
  idleCloud100: {
    title: "  a minute of rest: requests to Xen Orchestra",
    unit: "requests",
    max: 6,
  },
  idleCpu100: { title: "  a minute of rest: processor time", unit: "s" },
  beatingCpu100: { title: "  the same with kubelets' heartbeats", unit: "s" },
  initialise: {
    title: "1,000 Nodes at once, until all are initialised",
    unit: "s",
    max: 5,
    reference: "148 (14.6 with raised limits)",
  },
  cpu: { title: "  processor time of the controller", unit: "s" },
  cloudRequests: {
    title: "  requests to Xen Orchestra",
    unit: "requests",
    max: 10,
    reference: "3,000",
  },
  writes: { title: "  writes to Kubernetes per Node, Events included", unit: "writes", max: 3 },
  peak1000: { title: "  peak resident", unit: "MiB" },
  settled1000: { title: "resident, 1,000 Nodes settled", unit: "MiB", max: 60, reference: "77" },
  anonymous1000: { title: "  of it anonymous", unit: "MiB" },
  idleCloud1000: {
    title: "  a minute of rest: requests to Xen Orchestra",
    unit: "requests",
    max: 6,
    reference: "1,200",
  },
  idleRequests1000: { title: "  a minute of rest: requests to Kubernetes", unit: "requests" },
  idleCpu1000: {
    title: "  a minute of rest: processor time",
    unit: "s",
    max: 0.25,
    reference: "0.5",
  },
  beatingCpu1000: { title: "  the same with kubelets' heartbeats", unit: "s" },
  migration: {
    title: "live migration until the labels are right, slowest of 5",
    unit: "s",
    // Two seconds from the event, which itself comes within 0.2 s.
    max: 2.2,
    reference: "179",
  },
  shutdown: {
    title: "not Ready until the shutdown taint, VM long halted",
    unit: "s",
    max: 3,
    reference: "2.7",
  },
  deletion: {
    title: "VM deleted and Node not Ready until it is deleted",
    unit: "s",
    max: 90,
    reference: "3.3",
  },
  initialise5000: { title: "5,000 Nodes at once, until all are initialised", unit: "s" },
  peak5000: { title: "  peak resident", unit: "MiB" },
  settled5000: { title: "resident, 5,000 Nodes settled", unit: "MiB", max: 90, reference: "144" },
  anonymous5000: { title: "  of it anonymous", unit: "MiB" },
  idleCloud5000: {
    title: "  a minute of rest: requests to Xen Orchestra",
    unit: "requests",
    max: 6,
  },
  idleRequests5000: { title: "  a minute of rest: requests to Kubernetes", unit: "requests" },
  idleCpu5000: { title: "  a minute of rest: processor time", unit: "s" },
  beatingCpu5000: { title: "  the same with kubelets' heartbeats", unit: "s" },
  restartReady: { title: "start on 5,000 initialised Nodes until ready", unit: "s" },
  restartPeak: { title: "  peak resident", unit: "MiB" },
  restartSettled: { title: "  resident, settled", unit: "MiB", max: 90 },
  toInventory: { title: "toInventory() of 5,000 VMs, decoding included", unit: "ms" },
  planNode: { title: "planNode() of 1,000 Nodes", unit: "ms" },
  storePerNode: { title: "heap of the store per Node", unit: "KiB" },
};

/** Figures that were measured. */
export type Figures = Partial<Record<BudgetName, number>>;

/** The table, and whether a figure is over its budget. */
export function formatFigures(figures: Figures): { readonly text: string; readonly over: boolean } {
  const rows: string[][] = [["figure", "measured", "budget", "", "Go controller"]];
  let over = false;
  for (const [name, budget] of Object.entries(BUDGETS)) {
    const value = Object.entries(figures).find(([key]) => key === name)?.[1];
    if (value === undefined) continue;
    const isOver = budget.max !== undefined && value > budget.max;
    over ||= isOver;
    const verdict = budget.max === undefined ? "" : isOver ? "OVER" : "ok";
    const limit = budget.max === undefined ? "" : `<= ${budget.max}`;
    const measured = `${formatNumber(value)} ${budget.unit}`;
    rows.push([budget.title, measured, limit, verdict, budget.reference ?? ""]);
  }
  return { text: alignColumns(rows), over };
}

function formatNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 1);
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const toLine = (row: readonly string[]): string =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return rows.map((row) => toLine(row).trimEnd()).join("\n");
}
