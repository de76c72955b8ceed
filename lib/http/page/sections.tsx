/**
 * Sections of pages as HTML.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { BoxView, CountBar, ShareBar, Tally } from "./boxes.tsx";
import {
  type BoxesSection,
  type Cell,
  type Comparison,
  type ComparisonSection,
  type FactsSection,
  type Line,
  type LineState,
  type ProblemsSection,
  type Row,
  type Section,
  type StepsSection,
  type TableSection,
  toCellText,
} from "./model.ts";

/** Where the page is: links of sections are relative to `/debug/`. */
interface Based {
  readonly base: string;
}

/** Sections in their order. */
export function Sections({
  sections,
  base,
}: Based & { readonly sections: readonly Section[] }): JSX.Element {
  return <>{sections.map((section) => toView(section, base))}</>;
}

function toView(section: Section, base: string): JSX.Element | null {
  switch (section.kind) {
    case "table":
      return <Table section={section} base={base} />;
    case "facts":
      return <Facts section={section} base={base} />;
    case "comparison":
      return <Comparisons section={section} />;
    case "problems":
      return <Problems section={section} />;
    case "steps":
      return <Steps section={section} />;
    case "boxes":
      return <Boxes section={section} base={base} />;
    case "text":
      return null;
  }
}

/** A table; on a phone a list. */
export function Table({
  section: { id, title, intro, link, columns, rows, layout, max = Infinity, rest = "" },
  base,
}: Based & { readonly section: TableSection }): JSX.Element | null {
  if (rows.length === 0 && link === undefined) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id} class="name">
        {title}
      </h2>
      {intro === undefined ? null : <p class="soft">{intro}</p>}
      {link === undefined ? null : (
        <p>
          <a href={base + link.href}>{link.text}</a>
        </p>
      )}
      {rows.length === 0 ? null : (
        <div class="card">
          <table class={layout}>
            <Head titles={columns} />
            <tbody>
              {rows.slice(0, max).map((row) => (
                <RowView row={row} columns={columns} base={base} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > max ? (
        <p class="soft">
          {`These are the first ${max.toLocaleString("en")} of ${rows.length.toLocaleString("en")}. ${rest}`.trimEnd()}
        </p>
      ) : null}
    </section>
  );
}

function Head({ titles }: { readonly titles: readonly string[] }): JSX.Element {
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th scope="col">{title}</th>
        ))}
      </tr>
    </thead>
  );
}

function RowView({
  row: { cells, isWrong = false },
  columns,
  base,
}: Based & { readonly row: Row; readonly columns: readonly string[] }): JSX.Element {
  const [name = "", ...others] = cells;
  return (
    <tr class={isWrong ? "l-differs" : undefined}>
      <th scope="row">
        <CellView cell={name} base={base} />
      </th>
      {others.map((cell, at) => {
        if (toCellText(cell) === "") return <Nothing />;
        const isLabelled = typeof cell === "string" || cell.looksLike === undefined;
        return (
          <td data-label={isLabelled ? columns[at + 1] : undefined}>
            <CellView cell={cell} base={base} />
          </td>
        );
      })}
    </tr>
  );
}

/** In a table; a list on a phone leaves it out. */
function Nothing(): JSX.Element {
  return <td class="nothing">-</td>;
}

function CellView({ cell, base }: Based & { readonly cell: Cell }): JSX.Element {
  if (typeof cell === "string") return <>{cell}</>;
  const { text, href, looksLike, notes = [], share } = cell;
  const mark = looksLike === undefined ? undefined : `mark s-${looksLike}`;
  return (
    <>
      {href !== undefined ? (
        <a href={toHref(base, href)}>{text}</a>
      ) : mark === undefined ? (
        text
      ) : (
        <span class={mark}>{text}</span>
      )}
      {notes.map((note) => (
        <p class="why soft">{note}</p>
      ))}
      {share === undefined ? null : <ShareBar share={share} />}
    </>
  );
}

/** A link that may lead to another server, which only settings name. */
function toHref(base: string, href: string): string {
  return /^https?:/.test(href) ? href : base + href || "./";
}

function Facts({
  section: { cards },
  base,
}: Based & { readonly section: FactsSection }): JSX.Element {
  return (
    <div class="pair">
      {cards.map((facts) => (
        <div class="card">
          <dl>
            {facts.map(([name, value]) =>
              value === undefined ? null : (
                <>
                  <dt>{name}</dt>
                  <dd>
                    <CellView cell={value} base={base} />
                  </dd>
                </>
              ),
            )}
          </dl>
        </div>
      ))}
    </div>
  );
}

const VERDICTS: Readonly<Record<LineState, string>> = {
  same: "in sync",
  missing: "missing",
  differs: "differs",
  extra: "not desired",
  kept: "differs: never changed",
  unknown: "unknown",
};
/** Up to this many lines that are in sync are shown at once. */
const SAME_MAX = 3;

function Comparisons({
  section: { comparisons, isFolded = false, rest },
}: {
  readonly section: ComparisonSection;
}): JSX.Element | null {
  if (comparisons.length === 0) return null;
  return (
    <section aria-labelledby="compared">
      <h2 id="compared">What it should have, and what it has</h2>
      {comparisons.map((one) =>
        isFolded ? (
          <FoldedComparison comparison={one} isOpen={comparisons.length === 1} />
        ) : (
          <ComparisonTable comparison={one} />
        ),
      )}
      {rest === undefined ? null : <p class="soft">{rest}</p>}
    </section>
  );
}

/** Whether a comparison has a line that is not as it should be. */
function isDifferent({ lines }: Pick<Comparison, "lines">): boolean {
  return lines.some(({ state }) => state !== "same");
}

function FoldedComparison({
  comparison,
  isOpen,
}: {
  readonly comparison: Comparison;
  readonly isOpen: boolean;
}): JSX.Element {
  const differs = isDifferent(comparison);
  return (
    <details class="box" id={`parts-${comparison.title}`} open={differs || isOpen}>
      <summary>
        <span class="head">
          <b>{comparison.title}</b>
        </span>
        <span class="tally">
          <span class={`mark s-${differs ? "differs" : "well"}`}>
            {differs ? "differs" : "in sync"}
          </span>
        </span>
      </summary>
      <div class="inside">
        <ComparisonTable comparison={{ ...comparison, title: "Parts" }} isWhole />
      </div>
    </details>
  );
}

/** Lines that differ, then those in sync: many of them only when they are asked for. */
function ComparisonTable({
  comparison: { title, lines, empty },
  isWhole = false,
}: {
  readonly comparison: Comparison;
  readonly isWhole?: boolean;
}): JSX.Element {
  const shown = lines.filter(({ wanted, actual }) => wanted !== undefined || actual !== undefined);
  if (shown.length === 0) {
    return (
      <div class="card">
        <h3 class="caption">{title}</h3>
        <p class="soft empty">{empty}</p>
      </div>
    );
  }
  const same = shown.filter(({ state }) => state === "same");
  if (isWhole || same.length <= SAME_MAX) return <LineTable title={title} lines={shown} />;
  const others = shown.filter(({ state }) => state !== "same");
  return (
    <div class="card">
      {others.length === 0 ? <h3 class="caption">{title}</h3> : null}
      {others.length === 0 ? null : <LineTable title={title} lines={others} isBare />}
      <details class="more same" id={`same-${title}`}>
        <summary>
          <span class="mark s-well">{`${same.length.toLocaleString("en")} in sync`}</span>
        </summary>
        <LineTable title={`${title} in sync`} lines={same} isBare />
      </details>
    </div>
  );
}

function LineTable({
  title,
  lines,
  isBare = false,
}: {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly isBare?: boolean;
}): JSX.Element {
  return (
    <div class={isBare ? undefined : "card"}>
      <table>
        <caption>{title}</caption>
        <Head titles={["Name", "Desired", "Actual", "Status"]} />
        <tbody>
          {lines.map(({ name, wanted, actual, state }) => (
            <tr class={`l-${state}`}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <Value title="desired" text={wanted} />
              <Value title="actual" text={actual} />
              <td class="verdict">{VERDICTS[state]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({
  title,
  text,
}: {
  readonly title: string;
  readonly text: string | undefined;
}): JSX.Element {
  if (text === undefined) return <Nothing />;
  return <td data-label={title}>{text === "" ? "(empty)" : <code>{text}</code>}</td>;
}

function Problems({
  section: { id, title, problems },
}: {
  readonly section: ProblemsSection;
}): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {problems.map((one) => (
        <div class={`trouble s-${one.looksLike}`}>
          <h3>{one.title}</h3>
          <p class="why">{one.text}</p>
        </div>
      ))}
    </section>
  );
}

function Steps({
  section: { id, title, steps },
}: {
  readonly section: StepsSection;
}): JSX.Element | null {
  if (steps.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
    </section>
  );
}

function Boxes({
  section: { id, title, counts, boxes, choices = [], isGrid = false, empty },
  base,
}: Based & { readonly section: BoxesSection }): JSX.Element {
  const views = boxes.map((box) => <BoxView box={box} base={base} isTop={!isGrid} />);
  return (
    <section aria-labelledby={id}>
      <div class="lead">
        <h2 id={id}>{title}</h2>
        {counts === undefined ? null : <Tally counts={counts} />}
      </div>
      {counts === undefined || counts.length === 0 ? null : <CountBar counts={counts} />}
      {choices.length > 1 ? (
        <nav class="chips" aria-label="Group them by a label">
          {choices.map(({ text, href, isCurrent }) => (
            <a href={base + href} aria-current={isCurrent ? "true" : undefined}>
              {text}
            </a>
          ))}
        </nav>
      ) : null}
      {boxes.length === 0 ? <p class="soft">{empty}</p> : null}
      {isGrid && boxes.length > 0 ? <div class="grid racks">{views}</div> : views}
    </section>
  );
}
