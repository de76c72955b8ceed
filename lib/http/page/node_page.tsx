/**
 * The page of one Node: its machine, desired and actual values, and what happens to it.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { describeOutOfService } from "../out_of_service.ts";
import { formatSpan, toMs } from "../span.ts";
import type { NodeView } from "../views.ts";
import { compareAddresses, compareLabels, compareProviderId } from "./differences.ts";
import type { PageFrame } from "./layout.tsx";
import { type Fact, type Section, toPath } from "./model.ts";
import {
  renderNoObjectPage,
  renderObjectPage,
  toEventTable,
  toReconcileFacts,
} from "./object_page.tsx";
import { nameDeletion, nameMatch, nameReason } from "../node_words.ts";
import { type NodeCondition, STATES, toCondition } from "./state.ts";

const LIST = { path: "", words: "All Nodes" };

/** Names of facts that clouds report, in words. */
const FACTS: Readonly<Record<string, string>> = {
  id: "ID",
  vmId: "VM ID",
  vmName: "VM",
  powerState: "Power state",
  poolId: "Pool ID",
  poolName: "Pool",
  hostId: "Host ID",
  hostName: "Host",
  state: "State",
  zone: "Zone",
  serviceOffering: "Service offering",
  account: "Account",
  projectId: "Project ID",
  displayName: "Display name",
  cpus: "CPUs",
  memory: "Memory",
};

/** Renders the page. */
export function renderNodePage(node: NodeView, frame: PageFrame): Promise<string> {
  const condition = toCondition(node);
  return renderObjectPage(
    {
      name: node.name,
      state: STATES[condition.state],
      why: condition.why,
      list: LIST,
      path: `nodes/${toPath(node.name)}`,
      noun: "Node",
      children: <Mapping node={node} condition={condition} />,
      sections: listSections(node, condition, frame.nowMs),
    },
    frame,
  );
}

/** Renders the page for a Node that does not exist. */
export function renderNoNodePage(name: string, frame: PageFrame): Promise<string> {
  return renderNoObjectPage({ noun: "Node", name, list: LIST }, frame);
}

/** From the Node to its machine and the places that hold it. */
function Mapping({
  node,
  condition,
}: {
  readonly node: NodeView;
  readonly condition: NodeCondition;
}): JSX.Element {
  const { instance, places = [], matchedBy, presence } = node;
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
          <span class="soft">{nameReason(presence.reason ?? presence.kind)}</span>
        </li>
      ) : (
        <li>
          <small>machine, {instance.state}</small>
          <b>{instance.name}</b>
          {matchedBy === undefined ? null : (
            <span class="soft">matched by {nameMatch(matchedBy)}</span>
          )}
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

function listSections(node: NodeView, { why }: NodeCondition, nowMs: number): readonly Section[] {
  const machine = listMachine(node);
  const { addressConflict = "" } = node;
  const work: readonly Fact[] = [
    ...listWork(node, nowMs),
    // A worse state hides it.
    ["Address conflict", why.includes(addressConflict) ? undefined : addressConflict],
  ];
  return [
    { kind: "facts", cards: [work, ...(machine.length > 0 ? [machine] : [])] },
    {
      kind: "comparison",
      comparisons: [
        {
          title: "Provider ID",
          lines: [compareProviderId(node)],
          empty: "It has no provider ID, and the desired one is unknown.",
        },
        {
          title: "Labels",
          lines: compareLabels(node),
          empty: "It has none, and the desired ones are unknown.",
        },
        { title: "Addresses", lines: compareAddresses(node), empty: "It has none." },
      ],
    },
    toEventTable(node.events, nowMs),
  ];
}

function listWork(node: NodeView, nowMs: number): readonly Fact[] {
  const { deletion, presence, instance, isUninitialized } = node;
  const next = formatSpan(toMs(node.nextReconcileAt) - nowMs);
  const service = describeOutOfService(node);
  const isSaid = deletion?.message === undefined || deletion.message === presence.message;
  return [
    ["Initialised", isUninitialized === true ? "no: it waits with its taint" : "yes"],
    ...toReconcileFacts(node.lastReconcile, nowMs),
    [
      "Next reconcile",
      next === "" ? "when something changes" : `in ${next}, or when something changes`,
    ],
    [
      "Deletion",
      {
        text: nameDeletion(deletion) || (instance === null ? "no" : "no: its machine exists"),
        notes: isSaid ? [] : [deletion.message],
      },
    ],
    ["Out of service", service && { text: service.answer, notes: [service.detail] }],
  ];
}

function listMachine({ instance }: NodeView): readonly Fact[] {
  if (instance === null) return [];
  const { id, details, page } = instance;
  const facts = Object.values(details).includes(id) ? details : { id, ...details };
  const named = Object.entries(facts).map(([name, value]): Fact => [FACTS[name] ?? name, value]);
  return [...named, ["Page", page && { text: "its page in the cloud", href: page }]];
}
