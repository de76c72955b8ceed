/**
 * Boxes within boxes, with tiles in them; counts of states in words and as a bar.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Box, Count, Look, Tile } from "./model.ts";

/** A state, by shape, colour and word. */
export function Mark({ looksLike, word }: Look): JSX.Element {
  return <span class={`mark s-${looksLike}`}>{word}</span>;
}

/** Counts of states in words. */
export function Tally({ counts }: { readonly counts: readonly Count[] }): JSX.Element {
  return (
    <span class="tally">
      {counts.map(({ state: { looksLike, word }, count }) => (
        <Mark looksLike={looksLike} word={`${count.toLocaleString("en")} ${word}`} />
      ))}
    </span>
  );
}

/** Smallest share of a bar in percent, so that one Node of thousands is still visible. */
const SHARE_MIN = 0.8;

/** Shares of states as one bar. The numbers beside it say the same. */
export function CountBar({ counts }: { readonly counts: readonly Count[] }): JSX.Element {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const shares = counts.map(({ count }) => Math.max(SHARE_MIN, (count / total) * 100));
  const all = shares.reduce((sum, share) => sum + share, 0);
  let x = 0;
  return (
    <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      {counts.map(({ state }, at) => {
        const width = ((shares[at] ?? 0) / all) * 100;
        x += width;
        return (
          <rect
            class={`s-${state.looksLike}`}
            x={(x - width).toFixed(2)}
            width={width.toFixed(2)}
            height="1"
          />
        );
      })}
    </svg>
  );
}

/** From this share on, a pool is nearly full. */
const NEARLY_FULL = 0.9;

/** How much of a whole is used, as a bar. */
export function ShareBar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="bar share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect
        class={share < NEARLY_FULL ? "s-joining" : "s-notReady"}
        width={(share * 100).toFixed(2)}
        height="1"
      />
    </svg>
  );
}

/** Tiles that link to the pages of what they stand for. */
export function Tiles({
  tiles,
  base,
}: {
  readonly tiles: readonly Tile[];
  readonly base: string;
}): JSX.Element {
  return (
    <ul class="tiles">
      {tiles.map(({ name, href, looksLike, note, title }) => {
        const shown = (
          <>
            {name}
            {note ? <i>{note}</i> : null}
          </>
        );
        return (
          <li>
            {href === undefined ? (
              <span class={`dot s-${looksLike}`} title={title}>
                {shown}
              </span>
            ) : (
              <a class={`dot s-${looksLike}`} href={base + href} title={title}>
                {shown}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** A box. */
export function BoxView({
  box,
  base,
  isTop = true,
}: {
  readonly box: Box;
  readonly base: string;
  /** Whether it stands alone, and not beside others in a row. */
  readonly isTop?: boolean;
}): JSX.Element {
  const { id, kind, name, detail, problem, flag, counts, total, boxes = [], tiles = [] } = box;
  return (
    <details class={isTop ? "box" : "box tall"} id={id} open={box.isOpen}>
      <summary>
        <span class="head">
          {kind === undefined ? null : <span class="soft">{kind}</span>}
          <b>{name}</b>
          {detail === undefined ? null : <span class="id">{detail}</span>}
          {flag === undefined ? null : <Mark {...flag} />}
        </span>
        {total === undefined ? <Tally counts={counts} /> : <span class="count tally">{total}</span>}
        {total === undefined && counts.length > 0 ? <CountBar counts={counts} /> : null}
        {problem === undefined ? null : <span class="problem s-unseen mark">{problem}</span>}
      </summary>
      <div class="inside">
        {boxes.length === 0 && tiles.length > 0 ? <Tiles tiles={tiles} base={base} /> : null}
        {boxes.length > 0 ? (
          <div class="grid">
            {boxes.map((inner) => (
              <BoxView box={inner} base={base} isTop={false} />
            ))}
            {tiles.length > 0 ? (
              <div class="loose">
                <h3>{box.looseTitle}</h3>
                <Tiles tiles={tiles} base={base} />
              </div>
            ) : null}
          </div>
        ) : null}
      </div>
    </details>
  );
}
