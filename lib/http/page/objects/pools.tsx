/**
 * The list of address pools.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PoolUsageView } from "../../views.ts";
import { CardTable } from "../card_table.tsx";

const TITLES = ["Pool", "Family", "In use", "Addresses"];
/** A larger number is not written out. */
const COUNTED_MAX = 1_000_000;

/** How full each is; nothing if there are none. */
export function Pools({ pools }: { readonly pools: readonly PoolUsageView[] }): JSX.Element | null {
  if (pools.length === 0) return null;
  return (
    <section aria-labelledby="pools">
      <h2 id="pools">Address pools</h2>
      <CardTable
        titles={TITLES}
        kind="nodes pools"
        items={pools}
        row={({ pool, family, used, total }) => (
          <tr>
            <th scope="row">{pool}</th>
            <td data-label={TITLES[1]}>{family}</td>
            <td data-label={TITLES[2]}>{used.toLocaleString("en")}</td>
            <td data-label={TITLES[3]}>
              {total > COUNTED_MAX ? "more than a million" : total.toLocaleString("en")}
            </td>
          </tr>
        )}
      />
    </section>
  );
}
