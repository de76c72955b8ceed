/**
 * Who is to notice a deliberate break, and how to see that it did.
 * @module
 */
import type { Break } from "./break.ts";
import type { CommandResult } from "./work_copy.ts";

/** A command that succeeds with the whole program and fails with a broken one. */
export interface Catcher {
  /** A test file, or a simulation. */
  readonly name: string;
  /** Arguments of the runtime. */
  readonly args: readonly string[];
}

/** So much the simulation gets to find a break in; it ends with the first seed that fails. */
const SEEDS = 400;
/** Less than a command may take: that there was no time is no finding. */
const SIMULATION_MINUTES = 4;
const SIMULATIONS = {
  nodes: toSimulation("simulation"),
  vinos: toSimulation("simulation of Vinos", "--vinos"),
} as const;

/** Everybody who is to notice a break. */
export function listCatchers({ tests, simulated }: Break): readonly Catcher[] {
  const files = tests.map((file) => ({
    name: file,
    args: ["test", "--bail", "--timeout", "10000", `./${file}`],
  }));
  return simulated === undefined ? files : [...files, SIMULATIONS[simulated]];
}

function toSimulation(name: string, ...subject: readonly string[]): Catcher {
  const limits = ["--seed=1", `--count=${SEEDS}`, `--minutes=${SIMULATION_MINUTES}`];
  return { name, args: ["test/simulation/main.ts", ...subject, ...limits] };
}

/**
 * What noticed the break: the name of the first test that failed, what the simulation found, or that the command did
 * not end in time.
 *
 * @returns `undefined` when nothing did
 */
export function findCatch({ code, output }: CommandResult): string | undefined {
  if (code === 0) return undefined;
  const failed = /^(?:\(fail\)|BROKEN:) (.*?)(?: \[[\d.]+ms\])?$/m.exec(output)?.[1];
  return failed ?? "it did not end in time";
}
