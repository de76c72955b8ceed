/**
 * A table in a card.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";

/**
 * The first of some items as rows. If there are more, it says so.
 *
 * @param props.kind Class of the table. @default {none}
 * @param props.max How many rows are useful. @default {all}
 * @param props.rest Where the other items are, as a sentence. @default {nothing}
 */
export function CardTable<T>({
  caption,
  titles,
  kind,
  items,
  max = Infinity,
  rest = "",
  row,
}: {
  readonly caption?: string;
  readonly titles: readonly string[];
  readonly kind?: string;
  readonly items: readonly T[];
  readonly max?: number;
  readonly rest?: string;
  readonly row: (item: T) => JSX.Element;
}): JSX.Element {
  return (
    <>
      <div class="card">
        <table class={kind}>
          {caption === undefined ? null : <caption>{caption}</caption>}
          <thead>
            <tr>
              {titles.map((title) => (
                <th scope="col">{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>{items.slice(0, max).map(row)}</tbody>
        </table>
      </div>
      {items.length > max ? (
        <p class="soft">{`These are the first ${max} of ${items.length}. ${rest}`.trimEnd()}</p>
      ) : null}
    </>
  );
}
