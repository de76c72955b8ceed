/**
 * The parts of machines: what each should be beside what it is.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { MachinePartView, VinoMachineView } from "../../vinos/views.ts";
import { ComparisonTable } from "../comparison_table.tsx";
import type { Line } from "../differences.ts";

/** Machines with more than this are too many to compare all of them. */
const TABLES_MAX = 30;

/** A table for each machine: first those that differ. */
export function PartTables({
  machines,
}: {
  readonly machines: readonly VinoMachineView[];
}): JSX.Element | null {
  const known = machines.filter(({ parts }) => parts.length > 0);
  if (known.length === 0) return null;
  const sorted = known.toSorted((a, b) => Number(isDifferent(b)) - Number(isDifferent(a)));
  return (
    <section aria-labelledby="parts">
      <h2 id="parts">What it should have, and what it has</h2>
      {sorted.slice(0, TABLES_MAX).map((machine) => (
        <details
          class="box"
          id={`parts-${machine.name}`}
          open={isDifferent(machine) || known.length === 1}
        >
          <summary>
            <span class="head">
              <b>{machine.name}</b>
            </span>
            <span class="tally">
              <span class={`mark s-${isDifferent(machine) ? "differs" : "well"}`}>
                {isDifferent(machine) ? "differs" : "in sync"}
              </span>
            </span>
          </summary>
          <div class="inside">
            <ComparisonTable
              title="Parts"
              lines={machine.parts.map((part) => toLine(part, machine.isWanted))}
              empty=""
            />
          </div>
        </details>
      ))}
      {known.length > TABLES_MAX ? (
        <p class="soft">
          {`These are ${TABLES_MAX} of ${known.length} machines. Click another one above to compare it.`}
        </p>
      ) : null}
    </section>
  );
}

function isDifferent({ parts }: VinoMachineView): boolean {
  return parts.some(({ wanted, actual }) => wanted !== actual);
}

function toLine({ name, wanted, actual }: MachinePartView, isWanted: boolean): Line {
  const pair = {
    name,
    ...(wanted !== undefined && { wanted }),
    ...(actual !== undefined && { actual }),
  };
  if (wanted === undefined) return { ...pair, state: isWanted ? "extra" : "unknown" };
  if (actual === undefined) return { ...pair, state: "missing" };
  return { ...pair, state: wanted === actual ? "same" : "differs" };
}
