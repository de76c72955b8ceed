/**
 * The page of one load balancer: its address, what it should have and what it has, and what happens to it.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { LoadBalancerPartView, LoadBalancerView } from "../../load_balancers/views.ts";
import { describeWait } from "../../load_balancers/replies.ts";
import { formatSpan, toMs } from "../../span.ts";
import { ComparisonTable } from "../comparison_table.tsx";
import type { Line } from "../differences.ts";
import type { PageFrame } from "../layout.tsx";
import { formatCount, LastReconcile } from "../marks.tsx";
import { type ListLink, renderNoObjectPage, renderObjectPage } from "../objects/object_page.tsx";
import { LoadBalancerMark, toLoadBalancerPath } from "./marks.tsx";
import { LOAD_BALANCER_STATES } from "./state.ts";

/** What the page shows. */
interface LoadBalancerPageOptions extends PageFrame {
  readonly view: LoadBalancerView;
}

/** A cluster may have thousands of Nodes. */
const BACKENDS_MAX = 200;

/** Renders the page. */
export function renderLoadBalancerPage(options: LoadBalancerPageOptions): Promise<string> {
  const { view, base, places } = options;
  const { word, meaning, isTrouble } = LOAD_BALANCER_STATES[view.state];
  const name = `${view.namespace}/${view.name}`;
  return renderObjectPage({
    name,
    word,
    isTroubled: isTrouble,
    mark: <LoadBalancerMark state={view.state} isLeaving={view.isLeaving === true} />,
    why: describeWait(view) || meaning,
    list: toList(base),
    json: {
      href: `${toLoadBalancerPath(base, view)}?format=json`,
      words: "This load balancer as JSON",
    },
    base,
    places,
    children: (
      <>
        <div class="pair">
          <Work {...options} />
          <Asked view={view} />
        </div>
        <Problems view={view} />
        <h2>What it should have, and what it has</h2>
        {toKinds(view.parts).map(([kind, lines]) => (
          <ComparisonTable title={capitalize(kind)} lines={lines} empty="" />
        ))}
        {view.parts.length === 0 ? (
          <p class="soft">This process has not looked at the cloud for it yet.</p>
        ) : null}
        <Steps view={view} />
      </>
    ),
  });
}

/** Renders the page for a Service that has and gets none. */
export function renderNoLoadBalancerPage(
  key: string,
  { base, places }: PageFrame,
): Promise<string> {
  return renderNoObjectPage({
    title: "No such load balancer",
    sentence: `“${key}” has no load balancer of Landfall`,
    list: toList(base),
    base,
    places,
  });
}

function toList(base: string): ListLink {
  return { href: `${base}load-balancers`, words: "All load balancers" };
}

function Work({ view, nowMs }: LoadBalancerPageOptions): JSX.Element {
  const { lastReconcile: last, failure, waitsFor, notReadySince, problems } = view;
  const since = formatSpan(nowMs - toMs(notReadySince));
  const error = failure ?? last?.error;
  // A problem is said above and in its own section.
  const isSaid = error === undefined || problems.some(({ message }) => message === error);
  const isFree = view.state === "ready" || view.state === "working";
  return (
    <div class="card">
      <dl>
        <dt>Ready</dt>
        <dd>{since === "" ? "yes" : `not for ${since}`}</dd>
        {waitsFor === undefined && !isFree ? null : (
          <>
            <dt>Waits for</dt>
            <dd>{waitsFor ?? "nothing"}</dd>
          </>
        )}
        <LastReconcile last={last} nowMs={nowMs} error={isSaid ? undefined : error} />
      </dl>
    </div>
  );
}

function Asked({
  view: { addresses, ports, backends, serving },
}: {
  readonly view: LoadBalancerView;
}): JSX.Element {
  const shown = backends?.slice(0, BACKENDS_MAX).join(", ") ?? "";
  const more = shown !== "" && (backends?.length ?? 0) > BACKENDS_MAX ? ", …" : "";
  return (
    <div class="card">
      <dl>
        <dt>Address</dt>
        <dd>{addresses.join(", ") || "none yet"}</dd>
        <dt>Ports</dt>
        <dd>{ports.join(", ")}</dd>
        {backends === undefined ? null : (
          <>
            <dt>Backends</dt>
            <dd>
              {serving === undefined ? null : `${serving.toLocaleString("en")} of `}
              {formatCount(backends.length, "Node")}
              {shown === "" ? null : <p class="soft">{shown + more}</p>}
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Problems({ view: { problems } }: { readonly view: LoadBalancerView }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      {problems.map(({ reason, message, isWaiting = true }) => (
        <div class={`trouble s-${isWaiting ? "notReady" : "foreign"}`}>
          <h3>{reason}</h3>
          <p class="why">{message}</p>
        </div>
      ))}
    </section>
  );
}

function Steps({ view: { steps } }: { readonly view: LoadBalancerView }): JSX.Element | null {
  if (steps.length === 0) return null;
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Next steps</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
    </section>
  );
}

/** The parts by their kind, in the order in which the kinds come. */
function toKinds(parts: readonly LoadBalancerPartView[]): (readonly [string, Line[]])[] {
  return [...Map.groupBy(parts, ({ kind }) => kind)].map(([kind, some]) => [
    kind,
    some.map(toLine),
  ]);
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function toLine({ name, wanted, actual, isUndecided }: LoadBalancerPartView): Line {
  const pair = {
    name,
    ...(wanted !== undefined && { wanted }),
    ...(actual !== undefined && { actual }),
  };
  if (isUndecided === true) return { ...pair, state: "unknown" };
  if (wanted === undefined) return { ...pair, state: "extra" };
  if (actual === undefined) return { ...pair, state: "missing" };
  return { ...pair, state: wanted === actual ? "same" : "differs" };
}
