/**
 * Objects with problems, by what they have in common.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Mark, Tiles } from "./boxes.tsx";
import { formatCount } from "./model.ts";
import type { Reason, Trouble } from "./troubles.ts";

/** How many reasons of one state are shown. A search for the state shows more. */
const REASONS_MAX = 12;
/** Up to this many objects with the same reason are named at once. */
const NAMED_MAX = 12;

/** What all parts of the list need. */
interface Listed {
  /** What is counted: `Node`. */
  readonly noun: string;
  readonly base: string;
  /** Path of the list, below `/debug/`. */
  readonly listPath: string;
}

/** The problems, the worst first. */
export function TroubleList({
  title,
  troubles,
  ...listed
}: Listed & { readonly title: string; readonly troubles: readonly Trouble[] }): JSX.Element {
  return (
    <section aria-labelledby="troubles">
      <h2 id="troubles">{title}</h2>
      {troubles.map((trouble) => (
        <TroubleView trouble={trouble} {...listed} />
      ))}
    </section>
  );
}

function TroubleView({
  trouble: { state, reasons, total },
  ...listed
}: Listed & { readonly trouble: Trouble }): JSX.Element {
  const { noun, base, listPath } = listed;
  const told = reasons.slice(0, REASONS_MAX);
  const left = total - told.reduce((sum, { members }) => sum + members.length, 0);
  return (
    <div class={`trouble s-${state.looksLike}`}>
      <h3>
        <Mark {...state} />
        <span class="count">{formatCount(total, noun)}</span>
      </h3>
      <ul class="rows">
        {told.map((reason, at) => (
          <ReasonRow reason={reason} id={`more-${state.name}-${at}`} {...listed} />
        ))}
      </ul>
      {left > 0 ? (
        <p class="more">
          <a
            href={`${base}${listPath}?state=${state.name}`}
          >{`${formatCount(left, `more ${noun}`)}, each with its reason`}</a>
        </p>
      ) : null}
    </div>
  );
}

function ReasonRow({
  reason: { why, members },
  id,
  noun,
  base,
}: Listed & { readonly reason: Reason; readonly id: string }): JSX.Element {
  const [first, second] = members;
  if (first === undefined) return <li></li>;
  const isOne = second === undefined;
  const isAlike = members.every(({ where }) => where === first.where);
  return (
    <li>
      <div>
        {isOne ? (
          <a class="name" href={base + (first.tile.href ?? "")}>
            {first.tile.name}
          </a>
        ) : (
          <b>{formatCount(members.length, noun)}</b>
        )}
        <small class="soft name">{isAlike ? first.where : findShared(members)}</small>
      </div>
      <div>
        <p class="why">{why}</p>
        {isOne ? null : (
          <details class="more" id={id} open={members.length <= NAMED_MAX}>
            <summary>which ones</summary>
            <Tiles tiles={members.map(({ tile }) => tile)} base={base} />
          </details>
        )}
      </div>
    </li>
  );
}

/** The place that holds all of them: the beginning of their paths that they share. */
function findShared(members: Reason["members"]): string {
  const [first = [], ...others] = members.map(({ where }) => where.split(" › "));
  const end = first.findIndex((part, at) => others.some((one) => one[at] !== part));
  return first.slice(0, end).join(" › ");
}
