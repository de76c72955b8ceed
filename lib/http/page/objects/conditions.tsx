/**
 * The conditions of an object.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConditionView } from "../../views.ts";

/** All conditions with their reasons and messages; a sentence if there are none. */
export function Conditions({
  conditions,
}: {
  readonly conditions: readonly ConditionView[];
}): JSX.Element {
  return (
    <div class="card">
      <dl>
        {conditions.map(({ type, status, reason, message }) => (
          <>
            <dt>{type}</dt>
            <dd>
              {status}: {reason}
              {message === "" ? null : <p class="soft">{message}</p>}
            </dd>
          </>
        ))}
      </dl>
      {conditions.length === 0 ? <p class="soft empty">It has no conditions yet.</p> : null}
    </div>
  );
}
