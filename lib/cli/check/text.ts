/**
 * The report of `landfall check` as text. Pure.
 * @module
 */
import { formatConfigIssue } from "../../core/errors.ts";
import { toPlainText } from "../../core/text/printable.ts";
import { wrapAfter } from "../../core/text/wrap.ts";
import { type FindingLevel, toSeen } from "../../cloud/inspection.ts";
import { nameMatch } from "../../http/node_words.ts";
import { hideNames } from "../../http/page/troubles.ts";
import { COMMAND_MARK } from "./report.ts";
import type {
  CheckReport,
  CheckStep,
  CloudStep,
  NodesStep,
  PermissionAnswer,
  PermissionsStep,
} from "./report.ts";
import { formatChange } from "./outlook/changes.ts";
import type { NodePlan } from "./nodes.ts";
import { formatResource } from "./permissions.ts";

/** How the report is shown. */
export interface ReportOptions {
  /** Most characters of a line. @default {Infinity} */
  readonly width?: number;
  /** Whether everything that is ok is left out. @default {false} */
  readonly isProblemsOnly?: boolean;
  /** Whether equal findings stand each for itself. @default {false} */
  readonly isEach?: boolean;
}

/** One entry, and the lines that belong to it. */
interface Entry {
  readonly level: FindingLevel;
  readonly text: string;
  /** Each begins with a mark: `->`, `!`, `+`, `~` or `-`. @default {none} */
  readonly more?: readonly string[];
}

const MARKS: Readonly<Record<FindingLevel, string>> = {
  ok: "ok",
  warning: "WARN",
  failure: "FAIL",
};
const INDENT = " ".repeat(8);

/** Shows a report: a section for each step, a mark on each line, and how to fix what is wrong. */
export function formatReport(report: CheckReport, options: ReportOptions = {}): string {
  const { settings, cloud, kubernetes, permissions, nodes } = report;
  const { user } = permissions;
  const { isEach = false } = options;
  const sections: readonly (readonly [title: string, step: CheckStep, more: readonly Entry[]])[] = [
    [settings.provider ? `Settings of ${settings.provider}` : "Settings", settings, []],
    [toTitle("Cloud", "at", cloud.endpoint), cloud, listHosts(cloud)],
    [toTitle("Kubernetes", "at", kubernetes.server), kubernetes, []],
    [toTitle("Permissions", "of", user), permissions, listPermissions(permissions, isEach)],
    ["Nodes", nodes, listNodes(nodes, isEach)],
  ];
  const texts = sections.map((section) => formatSection(section, options));
  return [...texts.filter((text) => text !== ""), formatSummary(report, options)].join("\n");
}

function toTitle(name: string, word: string, what: string | undefined): string {
  return what === undefined ? name : `${name} ${word} ${toPlainText(what)}`;
}

function formatSection(
  [title, step, more]: readonly [string, CheckStep, readonly Entry[]],
  { width = Infinity, isProblemsOnly = false }: ReportOptions,
): string {
  const findings = step.findings.map((finding): Entry => ({
    level: finding.level,
    text: formatConfigIssue(finding),
    ...(finding.advice === undefined ? {} : { more: [`-> ${finding.advice}`] }),
  }));
  const entries = [...findings, ...more].filter(({ level }) => !isProblemsOnly || level !== "ok");
  const isSkipped = step.skipped !== undefined && !isProblemsOnly;
  if (entries.length === 0 && !isSkipped && isProblemsOnly) return "";
  const skipped = isSkipped
    ? wrapAfter("  skipped: ", toPlainText(step.skipped ?? ""), { width })
    : "";
  const head = wrapAfter("", title, { width });
  return `${head}${skipped}${entries.map((entry) => formatEntry(entry, width)).join("")}`;
}

function formatEntry({ level, text, more = [] }: Entry, width: number): string {
  const first = wrapAfter(`  ${MARKS[level].padEnd(4)}  `, toPlainText(text), { width });
  const lines = more.flatMap((one) => {
    const [mark = "", ...rest] = one.split(" ");
    return rest
      .join(" ")
      .split("\n")
      .map((line) =>
        line.startsWith(COMMAND_MARK)
          ? formatCommand(toPlainText(line.trim()), width)
          : wrapAfter(`${INDENT}${mark} `, toPlainText(line), { width }),
      );
  });
  return first + lines.join("");
}

/** A command that a shell takes when it is copied, also if it needs several lines. */
function formatCommand(command: string, width: number): string {
  const prefix = `${INDENT}   `;
  const longest = Math.max(...command.split(" ").map(({ length }) => length));
  const fitting = Math.max(width - " \\".length, prefix.length + longest);
  return `${wrapAfter(prefix, command, { width: fitting }).trimEnd().replaceAll("\n", " \\\n")}\n`;
}

/** Parts with a state of their own are findings already; the others are named. */
function listHosts({ parts = [] }: CloudStep): Entry[] {
  const plain = parts.filter(({ complete }) => complete === undefined);
  const kinds = new Set(plain.map(({ kind }) => kind));
  return [...kinds].map((kind) => {
    const names = plain.filter((part) => part.kind === kind).map(({ id, name }) => name ?? id);
    return { level: "ok", text: `${toSeen(names.length, kind)}: ${names.join(", ")}` };
  });
}

function listPermissions(step: PermissionsStep, isEach: boolean): Entry[] {
  const { permissions, advice } = step;
  const last = permissions.findLastIndex(({ level }) => level !== "ok");
  const unsaid = permissions.find(({ allowed, reason }) => allowed === "unknown" && reason);
  const more = [
    ...(unsaid?.reason === undefined ? [] : [`! ${unsaid.reason}`]),
    ...(advice === undefined ? [] : [`-> ${advice}`]),
  ];
  const toPlace = (one: PermissionAnswer): string =>
    one.level === "ok" && !isEach
      ? describePermission({ ...one, verb: "" })
      : describePermission(one);
  // Verbs that are allowed stand together, for each resource.
  const groups = Map.groupBy(permissions, toPlace);
  return [...groups.values()].map((group): Entry => {
    const [first] = group;
    if (first === undefined) return { level: "ok", text: "" };
    const verb = [...new Set(group.map((one) => one.verb))].join(", ");
    const entry = { level: first.level, text: describePermission({ ...first, verb }) };
    return group.includes(permissions[last] ?? first) && last >= 0 ? { ...entry, more } : entry;
  });
}

function describePermission(one: PermissionAnswer): string {
  const { verb, namespace, name, allowed, purpose, level } = one;
  const place = namespace === undefined ? "" : ` in ${namespace}${name ? `/${name}` : ""}`;
  const right = `${verb} ${formatResource(one)}${place}`;
  if (level === "ok") return right;
  return `${right}: ${allowed === "no" ? "not allowed" : "unknown"}; needed ${purpose}`;
}

/** Up to this many Nodes of which the same is to say stand each for itself. */
const EACH_MAX = 3;

/** A line for each Node, or one for many of which the same is to say, except for their names. */
function listNodes({ nodes }: NodesStep, isEach: boolean): Entry[] {
  const told = nodes.map((node) => ({
    node,
    lines: [
      describeNode(node),
      ...listProblems(node).map((text) => `! ${text}`),
      ...node.changes.flatMap(formatChange),
    ],
  }));
  const groups = Map.groupBy(told, ({ node, lines }) =>
    [node.level, hideNames(lines.join("\n"), listNames(node))].join("\n"),
  );
  return [...groups].flatMap(([pattern, group]) => {
    if (isEach || group.length <= EACH_MAX) {
      return group.map(({ node, lines: [text = "", ...more] }) => ({
        level: node.level,
        text: `${node.name}: ${text}`,
        more,
      }));
    }
    const [first] = group;
    const all = first?.lines.join("\n") ?? "";
    const isSame = group.every(({ lines }) => lines.join("\n") === all);
    const [, ...shared] = pattern.split("\n");
    const [text = "", ...more] = isSame ? (first?.lines ?? []) : shared;
    const names = group.slice(0, EACH_MAX).map(({ node }) => node.name);
    const what = `${group.length} Nodes (${names.join(", ")}, …)`;
    return [{ level: first?.node.level ?? "ok", text: `${what}: ${text}`, more }];
  });
}

/** What belongs to one Node alone. */
function listNames({ name, providerId = "", instance }: NodePlan): string[] {
  const ids = [providerId, instance?.providerId ?? ""];
  const names = [name, instance?.id ?? "", instance?.name ?? "", ...ids];
  return [...names, ...ids.map((id) => id.split("/").at(-1) ?? "")].filter(Boolean);
}

function describeNode(node: NodePlan): string {
  const { instance, presence, matchedBy, message = "", ready, level } = node;
  const waits = level === "failure" ? "stays uninitialized: " : "";
  const notReady = ready ? "" : "; the Node is not Ready";
  if (instance && matchedBy) {
    const { name, state } = instance;
    return `${waits}machine ${name} (${state}), found by ${nameMatch(matchedBy)}${notReady}`;
  }
  const gone = presence === "absent" ? "the machine is gone: " : "";
  return `${waits}${gone}${message}${notReady}`;
}

/** Each once, without the one that the line of the Node has already. */
function listProblems({ problems, message, instance }: NodePlan): string[] {
  return [...new Set(problems)].filter((text) => instance !== undefined || text !== message);
}

function formatSummary(report: CheckReport, { width = Infinity }: ReportOptions): string {
  const { failures, warnings, passed, nodes } = report;
  const skipped = [report.settings, report.cloud, report.kubernetes, report.permissions, nodes];
  const counts = [
    failures === 0 ? "No problems" : toCount(failures, "problem"),
    ...(warnings === 0 ? [] : [toCount(warnings, "warning")]),
    `${passed} ok`,
    ...toSkips(skipped.filter(({ status }) => status === "skipped").length),
  ];
  const changed = nodes.nodes.filter(({ changes }) => changes.length > 0).length;
  const outlook = changed === 0 ? "" : `; Landfall would change ${toCount(changed, "Node")}`;
  return wrapAfter("", `${counts.join(", ")}${outlook}`, { width });
}

function toSkips(count: number): string[] {
  return count === 0 ? [] : [`${toCount(count, "step")} skipped`];
}

function toCount(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
