/**
 * The last answer of the cloud, its age, and the process that shows it.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ElectionView, InventoryView, StatusView } from "../views.ts";
import { formatCount, type TableSection } from "./model.ts";

/** A few figures in a row. */
export function Facts({
  inventory,
  status,
  nodes,
}: {
  readonly inventory: InventoryView;
  readonly status: StatusView | undefined;
  /** How many of the machines in the inventory are Nodes. */
  readonly nodes: number;
}): JSX.Element {
  return (
    <dl class="facts">
      <Fact
        name="Inventory"
        value={formatAge(inventory.ageSeconds)}
        note={describeInventory(inventory, nodes)}
      />
      <Fact
        name={status === undefined ? "Cloud" : `Cloud: ${status.provider}`}
        {...describeCoverage(inventory)}
      />
      {status === undefined ? null : <Role status={status} />}
      {(status?.moreElections ?? []).map((one) => (
        <LeaseFact name={`Lease ${one.lease}`} election={one} />
      ))}
    </dl>
  );
}

/** An inventory may have only the machines of Nodes: the cloud may have more than the page counts. */
function describeInventory(inventory: InventoryView, nodes: number): string {
  const { ageSeconds, counts, lastError, lastRefreshDurationMs: tookMs } = inventory;
  if (lastError !== undefined) return "the last refresh failed";
  if (ageSeconds === null) return "";
  const machines = formatCount(counts["instances"] ?? 0, "machine");
  const unreadable = counts["undecodable"] ?? 0;
  const more = unreadable > 0 ? `, ${unreadable.toLocaleString("en")} more unreadable` : "";
  const matching = nodes === 1 ? "1 matches" : `${nodes.toLocaleString("en")} match`;
  const read = `${machines} looked up for Nodes${more}, ${matching} a Node`;
  return `${read}${tookMs === undefined ? "" : `, taken in ${tookMs} ms`}`;
}

/** How much of the cloud answered. During an outage this shows the last answer, and says so. */
function describeCoverage({ coverage, lastError }: InventoryView): { value: string; note: string } {
  if (coverage.length === 0) return { value: "No answer yet", note: "" };
  const incomplete = coverage.filter((part) => !part.complete);
  const value = `${coverage.length - incomplete.length} of ${formatCount(coverage.length, "part")}`;
  const names = incomplete.map(({ id, name }) => name ?? id).join(", ");
  const answer = incomplete.length === 0 ? "complete" : `not complete: ${names}`;
  return { value, note: lastError === undefined ? answer : `last answer: ${answer}` };
}

/** The parts of the cloud, and whether each is complete. */
export function toCoverageTable(coverage: InventoryView["coverage"]): TableSection {
  return {
    kind: "table",
    id: "cloud",
    title: "What the cloud answered",
    columns: ["Part", "ID", "Answer"],
    rows: coverage.map(({ id, name, complete, reason = "" }) => ({
      cells: [
        name ?? id,
        name === undefined ? "" : id,
        {
          text: complete ? "complete" : `not complete${reason && `: ${reason}`}`,
          looksLike: complete ? "well" : "unseen",
        },
      ],
    })),
  };
}

function Role({ status: { host, election } }: { readonly status: StatusView }): JSX.Element {
  if (election === undefined) {
    return (
      <Fact name="This process" value="Only process" note={`on ${host}, without leader election`} />
    );
  }
  return <LeaseFact name="This process" election={election} />;
}

/** Whether this process leads. */
function LeaseFact({
  name,
  election: { identity, holder, isLeading },
}: {
  readonly name: string;
  readonly election: ElectionView;
}): JSX.Element {
  if (isLeading) return <Fact name={name} value="Leader" note={identity} />;
  const note = holder === "" ? "there is no leader now" : `the leader is ${holder}`;
  return <Fact name={name} value="Standby" note={note} />;
}

function Fact({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {note === "" ? null : <dd class="name">{note}</dd>}
    </div>
  );
}

function formatAge(seconds: number | null): string {
  if (seconds === null) return "none yet";
  if (seconds < 10) return `${seconds.toFixed(1)} s old`;
  return seconds < 120 ? `${Math.round(seconds)} s old` : `${Math.floor(seconds / 60)} min old`;
}
