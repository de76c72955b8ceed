/**
 * One Node in detail, as text. Pure.
 * @module
 */
import { toPlainText } from "../../core/text/printable.ts";
import { wrapAfter } from "../../core/text/wrap.ts";
import { findZone } from "../../http/node_columns.ts";
import { nameDeletion, nameMatch, nameReason } from "../../http/node_words.ts";
import { describeOutOfService } from "../../http/out_of_service.ts";
import { compareAddresses, compareLabels, compareProviderId } from "../../http/page/differences.ts";
import type { Line } from "../../http/page/model.ts";
import { formatSpan, toMs } from "../../http/span.ts";
import type { NodeView } from "../../http/views.ts";

/** How a Node is shown. */
interface DetailOptions {
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
  /** Most characters of a line. */
  readonly width: number;
}

/** A name and its lines; nothing is shown without lines. */
type Fact = readonly [name: string, lines: readonly string[]];

/** Shows what is known, and every difference between the Node and what it should be. Ends in a newline. */
export function formatNode(node: NodeView, { nowMs, width }: DetailOptions): string {
  const facts: readonly Fact[] = [
    ["Node", [node.name]],
    ["Ready", [node.ready]],
    ["Taint", node.isUninitialized === true ? ["uninitialized: waits for its machine"] : []],
    ["Machine", [describePresence(node)]],
    ["Instance", node.instance ? [`${node.instance.name} (${node.instance.id})`] : []],
    ["Page", toLines(node.instance?.page)],
    ["Provider ID", toLines(node.providerId)],
    ["Place", toLines(describePlaces(node))],
    ["Zone", toLines(findZone(node))],
    ["Addresses", node.addresses.actual.map(({ type, address }) => `${type} ${address}`)],
    ["Conflict", toLines(node.addressConflict)],
    ["Differences", listDifferences(node)],
    ["Deletion", toLines(describeDeletion(node))],
    ["Out of service", toLines(describeService(node))],
    ["Reconciled", toLines(describeReconcile(node, nowMs))],
  ];
  const shown = facts.filter(([, lines]) => lines.length > 0);
  const longest = Math.max(...shown.map(([name]) => name.length));
  return shown
    .flatMap(([name, lines]) =>
      lines.map((line, at) => {
        const prefix = (at === 0 ? `${name}:` : "").padEnd(longest + 3);
        return wrapAfter(prefix, toPlainText(line), { width });
      }),
    )
    .join("");
}

function toLines(text: string | undefined): string[] {
  return text ? [text] : [];
}

function describePresence({ presence, instance, matchedBy }: NodeView): string {
  const { kind, reason, message } = presence;
  const by = matchedBy === undefined ? "" : `, matched by ${nameMatch(matchedBy)}`;
  const state = instance === null ? "" : `, ${instance.state}${by}`;
  const why = message ?? nameReason(reason ?? "");
  return `${kind}${state}${why === "" ? "" : ` (${why})`}`;
}

function describePlaces({ places = [] }: NodeView): string {
  return places.map(({ kind, id, name }) => `${kind} ${name ?? id}`).join(", ");
}

function describeDeletion({ deletion }: NodeView): string {
  if (deletion?.message === undefined) return nameDeletion(deletion);
  return `${nameDeletion({ state: deletion.state })}: ${deletion.message}`;
}

function describeService(node: NodeView): string {
  const words = describeOutOfService(node);
  return words === undefined ? "" : `${words.answer}. ${words.detail}`;
}

function describeReconcile({ lastReconcile, nextReconcileAt }: NodeView, nowMs: number): string {
  if (lastReconcile === null) return "";
  const { outcome, error, at } = lastReconcile;
  const next = formatSpan(toMs(nextReconcileAt) - nowMs);
  const parts = [
    `${outcome} ${formatSpan(nowMs - toMs(at))} ago`,
    ...(error === undefined ? [] : [error]),
    ...(next === "" ? [] : [`again in ${next}`]),
  ];
  return parts.join("; ");
}

/** `none` when the machine is known and the Node is as it should be; nothing while the machine is not known. */
function listDifferences(node: NodeView): string[] {
  if (node.instance === null) return [];
  const lines = [
    ...toChange(compareProviderId(node), "provider ID"),
    ...compareLabels(node).flatMap((line) => toChange(line, `label ${line.name}`)),
    ...compareAddresses(node).flatMap((line) => toChange(line, `address ${line.name}`)),
  ];
  return lines.length === 0 ? ["none"] : lines;
}

function toChange({ state, wanted, actual }: Line, what: string): string[] {
  switch (state) {
    case "missing":
      return [`+ ${what}: ${wanted}`];
    case "differs":
      return [`~ ${what}: ${actual} -> ${wanted}`];
    case "extra":
      return [`- ${what}: ${actual}`];
    case "kept":
      return [`! ${what}: ${actual}, and never changes; the machine has ${wanted}`];
    default:
      return [];
  }
}
