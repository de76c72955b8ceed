/**
 * The list of addresses without a Service.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LeftoverView } from "../../load_balancers/views.ts";
import { CardTable } from "../card_table.tsx";

/** More rows are not useful. */
const ROWS_MAX = 100;
const TITLES = [
  "Address",
  "Address ID",
  "Service in its tags",
  "UID of the Service",
  "Rules",
  "Last seen",
];

/** What the page says about them; nothing if there are none. */
export function Leftovers({
  leftovers,
}: {
  readonly leftovers: readonly LeftoverView[];
}): JSX.Element | null {
  if (leftovers.length === 0) return null;
  return (
    <section aria-labelledby="leftovers">
      <h2 id="leftovers">Leftovers: addresses of this cluster without a Service</h2>
      <p class="soft">
        Their tags name this cluster, and a Service that does not exist. Landfall does not release
        them: the Service may only be missing after a restore, or this cluster may be a copy.{" "}
        <code>landfall check</code> says how to release each.
      </p>
      <CardTable
        titles={TITLES}
        kind="nodes leftovers"
        items={leftovers}
        max={ROWS_MAX}
        row={({ ip, id, service = "", serviceUid, rules, asOf }) => (
          <tr>
            <th scope="row">{ip}</th>
            <td data-label={TITLES[1]}>{id}</td>
            <td data-label={TITLES[2]}>{service}</td>
            <td data-label={TITLES[3]}>{serviceUid}</td>
            <td data-label={TITLES[4]}>{rules.toLocaleString("en")}</td>
            <td data-label={TITLES[5]}>{formatTime(asOf)}</td>
          </tr>
        )}
      />
    </section>
  );
}

/** `2026-01-01 00:09 UTC` */
function formatTime(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}
