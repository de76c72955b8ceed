/**
 * The report of `landfall check` for people. Pure.
 * @module
 */
import { formatConfigIssue } from "../../core/errors.ts";
import { toPlainText } from "../../core/text/printable.ts";
import { formatTable } from "../../http/text_table.ts";
import { type FindingLevel, toSeen } from "../../cloud/inspection.ts";
import type {
  CheckFinding,
  CheckReport,
  CheckStep,
  CloudStep,
  NodesStep,
  PermissionsStep,
} from "./report.ts";
import { formatChange } from "./changes.ts";
import type { NodePlan } from "./nodes.ts";
import { formatResource } from "./permissions.ts";

const MARKS: Readonly<Record<FindingLevel, string>> = {
  ok: "ok",
  warning: "WARN",
  failure: "FAIL",
};

/** Shows a report: a section for each step, a mark on each line, and what to do about what is wrong. */
export function formatReport(report: CheckReport): string {
  const { settings, cloud, kubernetes, permissions, nodes } = report;
  const sections = [
    formatStep(settings.provider ? `Settings of ${settings.provider}` : "Settings", settings),
    formatStep(toTitle("Cloud", cloud.endpoint), cloud, formatHosts(cloud)),
    formatStep(toTitle("Kubernetes", kubernetes.server), kubernetes),
    formatStep("Permissions", permissions, formatPermissions(permissions)),
    formatStep("Nodes", nodes, formatNodes(nodes)),
  ];
  return `${sections.join("\n")}\n${formatSummary(report)}\n`;
}

function toTitle(name: string, where: string | undefined): string {
  return where === undefined ? name : `${name} at ${toPlainText(where)}`;
}

function formatStep(title: string, step: CheckStep, more = ""): string {
  const skipped = step.skipped === undefined ? "" : `  skipped: ${toPlainText(step.skipped)}\n`;
  return `${title}\n${skipped}${step.findings.map(formatFinding).join("")}${more}`;
}

function formatFinding(finding: CheckFinding): string {
  const line = `  ${MARKS[finding.level].padEnd(4)}  ${toPlainText(formatConfigIssue(finding))}\n`;
  return finding.advice === undefined ? line : `${line}${formatAdvice(finding.advice)}`;
}

function formatAdvice(advice: string): string {
  return `        -> ${toPlainText(advice)}\n`;
}

/** Parts with a state of their own are findings already; the others are named. */
function formatHosts({ parts = [] }: CloudStep): string {
  const plain = parts.filter(({ complete }) => complete === undefined);
  const kinds = new Set(plain.map(({ kind }) => kind));
  return [...kinds]
    .map((kind) => {
      const names = plain.filter((part) => part.kind === kind).map(({ id, name }) => name ?? id);
      return `  ok    ${toSeen(names.length, kind)}: ${toPlainText(names.join(", "))}\n`;
    })
    .join("");
}

function formatPermissions({ permissions, advice }: PermissionsStep): string {
  if (permissions.length === 0) return "";
  const rows = permissions.map((one) => [
    MARKS[one.level],
    one.allowed,
    one.verb,
    formatResource(one),
    one.name === undefined ? (one.namespace ?? "") : `${one.namespace}/${one.name}`,
    one.purpose,
  ]);
  const table = formatTable(["CHECK", "MAY", "VERB", "RESOURCE", "NAMESPACE", "WHAT FOR"], rows);
  const unsaid = permissions.find(({ allowed, reason }) => allowed === "unknown" && reason);
  const why = unsaid?.reason === undefined ? "" : `        ${toPlainText(unsaid.reason)}\n`;
  return `${indent(table)}${why}${advice === undefined ? "" : formatAdvice(advice)}`;
}

function formatNodes({ nodes }: NodesStep): string {
  if (nodes.length === 0) return "";
  const rows = nodes.map((node) => [
    MARKS[node.level],
    node.name,
    node.ready ? "yes" : "no",
    node.providerId ?? "",
    node.reason ?? node.presence,
    node.instance?.name ?? "",
    node.matchedBy ?? "",
  ]);
  const header = ["CHECK", "NODE", "READY", "PROVIDER ID", "MATCH", "INSTANCE", "MATCHED BY"];
  const words = nodes.flatMap((node) =>
    listWords(node).map((word) => `        ${toPlainText(`${node.name}: ${word}`)}\n`),
  );
  return `${indent(formatTable(header, rows))}${words.join("")}`;
}

/** What is wrong with a Node, each thing once, then what would be done to it. */
function listWords({ level, message, changes, problems }: NodePlan): string[] {
  const wrong = level === "ok" || message === undefined ? problems : [message, ...problems];
  return [...new Set(wrong), ...changes.map(formatChange)];
}

function formatSummary({ failures, warnings }: CheckReport): string {
  if (failures + warnings === 0) return "All is well.";
  const parts = [
    ...(failures === 0 ? [] : [`${failures} ${failures === 1 ? "thing is" : "things are"} wrong`]),
    ...(warnings === 0 ? [] : [`${warnings} ${warnings === 1 ? "warning" : "warnings"}`]),
  ];
  return `${parts.join(", ")}.`;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
