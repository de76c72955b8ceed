/**
 * The first row of a table.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";

/** The titles of the columns. */
export function TableHead({ titles }: { readonly titles: readonly string[] }): JSX.Element {
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
