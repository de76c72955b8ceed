/**
 * The page of all Vinos: how each stands, and where its machines are.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatSpan, toMs } from "../../span.ts";
import { toVinoKey, toVinoPath } from "../../vinos/keys.ts";
import { describeUse, describeVino, listStrays } from "../../vinos/replies.ts";
import type { CloudView, VinoView } from "../../vinos/views.ts";
import type { PoolUsageView, ServingView } from "../../views.ts";
import { type PageFrame, renderDocument } from "../layout.tsx";
import { formatCount, KindBar, KindMark, KindTally } from "../marks.tsx";
import { toHeading } from "../objects/heading.ts";
import { Pools } from "../objects/pools.tsx";
import { MissingBanner, StandbyBanner } from "../objects/serving_banners.tsx";
import { CardTable } from "../card_table.tsx";
import { PlaceBoxes } from "./boxes.tsx";
import { type Places, toPlaces } from "./places.ts";
import { isTroubled, MACHINE_LOOKS, VINO_STATES } from "./state.ts";
import { Strays } from "./strays.tsx";

/** What the page shows. */
export interface VinoListOptions extends PageFrame {
  readonly vinos: readonly VinoView[];
  /** Absent: there is no inventory yet. */
  readonly cloud?: CloudView;
  readonly serving: ServingView;
  readonly pools: readonly PoolUsageView[];
}

const REFRESH_SECONDS = 5;
/** Renewing a page with very many machines costs more. */
const REFRESH_MANY_SECONDS = 15;
const MANY_MACHINES = 300;
/** More rows are not useful. */
const ROWS_MAX = 500;

const EMPTY: CloudView = { pools: [], hosts: [], machines: [] };
const TITLES = ["Vino", "State", "Machines", "BareMetalHosts", "Last reconcile"];

/** Renders the page. */
export function renderVinoList(options: VinoListOptions): Promise<string> {
  const { vinos, cloud = EMPTY, base, places } = options;
  const troubled = vinos.filter(({ state }) => isTroubled(state)).length;
  const isMany = cloud.machines.length > MANY_MACHINES;
  return renderDocument({
    title: `${troubled > 0 ? `(${troubled}) ` : ""}Vinos · Landfall`,
    base,
    isTroubled: troubled > 0,
    refreshSeconds: isMany ? REFRESH_MANY_SECONDS : REFRESH_SECONDS,
    places,
    main: <Main {...options} troubled={troubled} where={toPlaces(vinos, cloud)} />,
  });
}

function Main(
  props: VinoListOptions & { readonly troubled: number; readonly where: Places },
): JSX.Element {
  const { vinos, cloud = EMPTY, nowMs, base, where, serving, troubled } = props;
  const { counts } = where;
  const machines = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <main id="main">
      <MissingBanner missing={serving.missing} />
      <StandbyBanner {...serving} unknown="what each part of a machine should be" />
      <div class="lead">
        <div>
          <h1>{toHeading("Vino", { total: vinos.length, troubled })}</h1>
          <p>
            {formatCount(machines, "machine")} on {formatCount(cloud.hosts.length, "host")}, as of{" "}
            {new Date(nowMs).toISOString().slice(11, 19)} UTC
          </p>
        </div>
        <KindTally counts={counts} states={MACHINE_LOOKS} />
      </div>
      <KindBar counts={counts} states={MACHINE_LOOKS} />
      {vinos.length > 0 ? <Table vinos={vinos} nowMs={nowMs} base={base} /> : null}
      <PlaceBoxes places={where} base={base} />
      <Strays strays={listStrays(cloud)} hosts={cloud.hosts} />
      <Pools pools={props.pools} />
    </main>
  );
}

function Table({
  vinos,
  nowMs,
  base,
}: Pick<VinoListOptions, "vinos" | "nowMs" | "base">): JSX.Element {
  // Those that need attention come first; the others keep the order of their names.
  const sorted = vinos.toSorted(
    (a, b) => Number(isTroubled(b.state)) - Number(isTroubled(a.state)),
  );
  return (
    <section aria-label="Vinos">
      <h2>{formatCount(vinos.length, "Vino")}</h2>
      <CardTable
        titles={TITLES}
        kind="nodes sips"
        items={sorted}
        max={ROWS_MAX}
        rest="The JSON has all."
        row={(view) => <Row view={view} nowMs={nowMs} base={base} />}
      />
    </section>
  );
}

function Row({
  view,
  nowMs,
  base,
}: {
  readonly view: VinoView;
  readonly nowMs: number;
  readonly base: string;
}): JSX.Element {
  const { state, ready, wanted, machines, lastReconcile } = view;
  const key = toVinoKey(view);
  const why = describeVino(view);
  const ago = formatSpan(nowMs - toMs(lastReconcile?.at));
  const kept = machines.filter(({ isWanted }) => !isWanted).length;
  const hosts = machines.filter(({ bareMetalHost }) => bareMetalHost !== undefined);
  const used = hosts.filter((machine) => describeUse(machine) !== "").length;
  return (
    <tr>
      <th scope="row">
        <a href={toVinoPath(base, key)}>{key}</a>
      </th>
      <td>
        <KindMark {...VINO_STATES[state]} />
        {why === "" ? null : <p class="why soft">{why}</p>}
      </td>
      <td data-label={TITLES[2]}>
        {`${ready.toLocaleString("en")} of ${wanted.toLocaleString("en")} ready`}
        {kept === 0 ? null : <p class="soft">{formatCount(kept, "machine")} not wanted any more</p>}
      </td>
      <td data-label={TITLES[3]}>
        {hosts.length === 0
          ? ""
          : `${hosts.length.toLocaleString("en")}, ${used.toLocaleString("en")} in use`}
      </td>
      <td data-label={TITLES[4]}>{ago && `${ago} ago`}</td>
    </tr>
  );
}
