/**
 * Small pieces that both pages about Vinos show.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { VinoState } from "../../vinos/views.ts";
import { Bar } from "../marks.tsx";
import type { MachineCounts } from "./places.ts";
import { MACHINE_LOOKS, type MachineLook, VINO_STATES } from "./state.ts";

/** The state of a Vino, by shape, colour and word. */
export function VinoMark({ state }: { readonly state: VinoState }): JSX.Element {
  const { word, looksLike } = VINO_STATES[state];
  return <span class={`mark s-${looksLike}`}>{word}</span>;
}

/** The state of a machine, by shape, colour and word. */
export function MachineMark({ look }: { readonly look: MachineLook }): JSX.Element {
  const { word, looksLike } = MACHINE_LOOKS[look];
  return <span class={`mark s-${looksLike}`}>{word}</span>;
}

/** Shares of the states of machines as one bar. */
export function MachineBar({ counts }: { readonly counts: MachineCounts }): JSX.Element | null {
  if (counts.length === 0) return null;
  const drawn = counts.map(([look, count]) => [MACHINE_LOOKS[look].looksLike, count] as const);
  return <Bar counts={drawn} />;
}

/** How many machines are in each state, in words. */
export function MachineTally({ counts }: { readonly counts: MachineCounts }): JSX.Element {
  return (
    <span class="tally">
      {counts.map(([look, count]) => (
        <span class={`mark s-${MACHINE_LOOKS[look].looksLike}`}>
          {count.toLocaleString("en")} {MACHINE_LOOKS[look].word}
        </span>
      ))}
    </span>
  );
}
