/**
 * The page of one Node: its machine, desired and actual values, and what happens to it.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { describeOutOfService } from "../out_of_service.ts";
import { formatSpan, toMs } from "../span.ts";
import type { NodeView } from "../views.ts";
import { ComparisonTable } from "./comparison_table.tsx";
import { compareAddresses, compareLabels, compareProviderId } from "./differences.ts";
import type { PageFrame } from "./layout.tsx";
import { LastReconcile, Mark, toNodePath } from "./marks.tsx";
import { type ListLink, renderNoObjectPage, renderObjectPage } from "./objects/object_page.tsx";
import { type NodeCondition, STATES, toCondition } from "./state.ts";

/** What the page shows. */
interface NodePageOptions extends PageFrame {
  readonly node: NodeView;
}

const MATCHES: Readonly<Record<string, string>> = {
  providerId: "matched by provider ID",
  systemUuid: "matched by system UUID",
  swappedSystemUuid: "matched by system UUID, its bytes swapped by UEFI firmware",
  name: "matched by name",
};

/** Renders the page. */
export function renderNodePage(options: NodePageOptions): Promise<string> {
  const { node, nowMs, base, places } = options;
  const condition = toCondition(node);
  return renderObjectPage({
    name: node.name,
    word: STATES[condition.state].word,
    isTroubled: STATES[condition.state].isTrouble,
    mark: <Mark state={condition.state} />,
    why: condition.why || STATES[condition.state].meaning,
    list: toList(base),
    json: { href: `${toNodePath(base, node.name)}?format=json`, words: "This Node as JSON" },
    base,
    places,
    children: (
      <>
        <Mapping node={node} condition={condition} />
        <div class="pair">
          <Work node={node} nowMs={nowMs} />
          <Machine node={node} />
        </div>
        <h2>What it should have, and what it has</h2>
        <ComparisonTable
          title="Provider ID"
          lines={[compareProviderId(node)]}
          empty="It has no provider ID, and the desired one is unknown."
        />
        <ComparisonTable
          title="Labels"
          lines={compareLabels(node)}
          empty="It has none, and the desired ones are unknown."
        />
        <ComparisonTable title="Addresses" lines={compareAddresses(node)} empty="It has none." />
      </>
    ),
  });
}

/** Renders the page for a Node that does not exist. */
export function renderNoNodePage(name: string, { base, places }: PageFrame): Promise<string> {
  return renderNoObjectPage({
    title: "No such Node",
    sentence: `There is no Node “${name}”`,
    list: toList(base),
    base,
    places,
  });
}

function toList(base: string): ListLink {
  return { href: base || "./", words: "All Nodes" };
}

/** From the Node to its machine and the places that hold it. */
function Mapping({
  node,
  condition,
}: {
  readonly node: NodeView;
  readonly condition: NodeCondition;
}): JSX.Element {
  const { instance, places = [], matchedBy = "", presence } = node;
  return (
    <ol class="path" aria-label="From the Node to where it runs">
      <li>
        <small>Node</small>
        <b>{node.name}</b>
        <span class="soft">Ready: {node.ready}</span>
      </li>
      {instance === null ? (
        <li class="none">
          <small>machine</small>
          <b>{STATES[condition.state].word}</b>
          <span class="soft">{presence.reason ?? presence.kind}</span>
        </li>
      ) : (
        <li>
          <small>machine, {instance.state}</small>
          <b>{instance.name}</b>
          <span class="soft">{MATCHES[matchedBy] ?? matchedBy}</span>
        </li>
      )}
      {places.toReversed().map(({ kind, id, name }) => (
        <li class={instance === null ? "none" : undefined}>
          <small>{instance === null ? `${kind}, by its labels` : kind}</small>
          <b>{name ?? id}</b>
          {name === undefined ? null : <span class="id">{id}</span>}
        </li>
      ))}
    </ol>
  );
}

function Work({ node, nowMs }: { readonly node: NodeView; readonly nowMs: number }): JSX.Element {
  const { lastReconcile: last, nextReconcileAt, deletion, presence, isUninitialized } = node;
  const next = formatSpan(toMs(nextReconcileAt) - nowMs);
  const service = describeOutOfService(node);
  return (
    <div class="card">
      <dl>
        <dt>Initialised</dt>
        <dd>{isUninitialized === true ? "no: it waits with its taint" : "yes"}</dd>
        <LastReconcile last={last} nowMs={nowMs} error={last?.error} />
        <dt>Next reconcile</dt>
        <dd>{next === "" ? "when something changes" : `in ${next}, or when something changes`}</dd>
        <dt>Deletion</dt>
        <dd>
          {deletion?.state ?? (node.instance === null ? "no" : "no: its machine exists")}
          {deletion?.reason === undefined ? "" : ` (${deletion.reason})`}
          {deletion?.message === undefined || deletion.message === presence.message ? null : (
            <p class="soft">{deletion.message}</p>
          )}
        </dd>
        {service === undefined ? null : (
          <>
            <dt>Out of service</dt>
            <dd>
              {service.answer}
              <p class="soft">{service.detail}</p>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Machine({ node: { instance } }: { readonly node: NodeView }): JSX.Element | null {
  if (instance === null) return null;
  const { id, details } = instance;
  const facts = Object.values(details).includes(id) ? details : { id, ...details };
  return (
    <div class="card">
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}
