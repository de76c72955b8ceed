/**
 * The page of one Vino: its machines, what each waits for, and what each should be beside what it is.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { toVinoKey, toVinoPath } from "../../vinos/keys.ts";
import { describeVino } from "../../vinos/replies.ts";
import type { CloudView, VinoView } from "../../vinos/views.ts";
import type { PageFrame } from "../layout.tsx";
import { KindMark, LastReconcile } from "../marks.tsx";
import { Conditions } from "../objects/conditions.tsx";
import { type ListLink, renderNoObjectPage, renderObjectPage } from "../objects/object_page.tsx";
import { MachineTable } from "./machine_table.tsx";
import { PartTables } from "./part_tables.tsx";
import { isTroubled, VINO_STATES } from "./state.ts";

/** What the page shows. */
export interface VinoPageOptions extends PageFrame {
  readonly vino: VinoView;
  /** Absent: there is no inventory yet. */
  readonly cloud?: CloudView;
  /** Name of the only machine to show. @default {all} */
  readonly machine?: string;
}

/** Renders the page. */
export function renderVinoPage(options: VinoPageOptions): Promise<string> {
  const { vino, cloud, machine, nowMs, base, places } = options;
  const { word, meaning } = VINO_STATES[vino.state];
  const key = toVinoKey(vino);
  const path = toVinoPath(base, key);
  const chosen = vino.machines.filter(({ name }) => (machine ?? name) === name);
  return renderObjectPage({
    name: key,
    word,
    isTroubled: isTroubled(vino.state),
    mark: <KindMark {...VINO_STATES[vino.state]} />,
    why: describeVino(vino) || meaning,
    list: toList(base),
    json: { href: `${path}?format=json`, words: "This Vino as JSON" },
    base,
    places,
    children: (
      <>
        <div class="pair">
          <Work vino={vino} nowMs={nowMs} />
          <Conditions conditions={vino.conditions} />
        </div>
        <Shortages vino={vino} />
        <MachineTable
          vino={vino}
          machines={chosen}
          isOne={machine !== undefined}
          base={base}
          {...(cloud && { cloud })}
        />
        <PartTables machines={chosen} />
      </>
    ),
  });
}

/** Renders the page for a Vino that is not there. */
export function renderNoVinoPage(key: string, { base, places }: PageFrame): Promise<string> {
  return renderNoObjectPage({
    title: "No such Vino",
    sentence: `There is no Vino “${key}”`,
    list: toList(base),
    base,
    places,
  });
}

function toList(base: string): ListLink {
  return { href: `${base}vinos`, words: "All Vinos" };
}

function Work({ vino, nowMs }: Pick<VinoPageOptions, "vino" | "nowMs">): JSX.Element {
  const { ready, wanted, machines, lastReconcile: last } = vino;
  const published = machines.filter(({ bareMetalHost }) => bareMetalHost !== undefined).length;
  return (
    <div class="card">
      <dl>
        <dt>Machines</dt>
        <dd>{`${ready.toLocaleString("en")} of ${wanted.toLocaleString("en")} ready`}</dd>
        <dt>BareMetalHosts</dt>
        <dd>{published.toLocaleString("en")}</dd>
        <LastReconcile last={last} nowMs={nowMs} error={last?.error} />
      </dl>
    </div>
  );
}

function Shortages({ vino: { shortages } }: Pick<VinoPageOptions, "vino">): JSX.Element | null {
  if (shortages.length === 0) return null;
  return (
    <section aria-labelledby="shortages">
      <h2 id="shortages">Machines that Landfall cannot begin</h2>
      {shortages.map(({ role, missing, why }) => (
        <div class="trouble s-notReady">
          <h3>{`${missing.toLocaleString("en")} of role ${role}`}</h3>
          <p class="why">{why}</p>
        </div>
      ))}
    </section>
  );
}
