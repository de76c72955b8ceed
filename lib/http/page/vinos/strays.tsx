/**
 * The list of machines without a Vino.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { CloudHostView, CloudMachineView } from "../../vinos/views.ts";
import { CardTable } from "../card_table.tsx";

/** More rows are not useful. */
const ROWS_MAX = 100;
const TITLES = ["Machine", "ID", "Host", "Power"];

/** What the page says about them; nothing if there are none. */
export function Strays({
  strays,
  hosts,
}: {
  readonly strays: readonly CloudMachineView[];
  readonly hosts: readonly CloudHostView[];
}): JSX.Element | null {
  if (strays.length === 0) return null;
  const names = new Map(hosts.map(({ id, name }) => [id, name]));
  return (
    <section aria-labelledby="strays">
      <h2 id="strays">Machines without a Vino</h2>
      <p class="soft">
        A Vino made them that is not in this cluster: it was deleted and kept its machines, or it is
        in another cluster. Landfall does not change them.
      </p>
      <CardTable
        titles={TITLES}
        items={strays}
        max={ROWS_MAX}
        row={({ name, id, hostId = "", power }) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="id" data-label={TITLES[1]}>
              {id}
            </td>
            <td data-label={TITLES[2]}>{names.get(hostId) ?? hostId}</td>
            <td data-label={TITLES[3]}>{power}</td>
          </tr>
        )}
      />
    </section>
  );
}
