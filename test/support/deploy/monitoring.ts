/**
 * The files of deploy/monitoring, as data, and what their PromQL asks for.
 *
 * @module
 */
import { readSource } from "../sources.ts";
import { saySkipped } from "../skip.ts";

/** An alert. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Groups of rules, as Prometheus and its operator have them. */
interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
}

/** A panel of a dashboard; rows have no targets. */
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** A dashboard of Grafana. */
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: unknown }[];
  };
}

/** Path of the rules, from the root. */
export const RULES_PATH = "deploy/monitoring/landfall.rules.yaml";

/** The rules for Prometheus. */
export async function readRules(): Promise<RuleGroups> {
  return Bun.YAML.parse(await readSource(RULES_PATH)) as RuleGroups;
}

/** The rules for the Prometheus operator. */
export async function readPrometheusRule(): Promise<{ readonly spec: RuleGroups }> {
  const text = await readSource("deploy/monitoring/prometheus-rule.yaml");
  return Bun.YAML.parse(text) as { readonly spec: RuleGroups };
}

/** The dashboard for Grafana. */
export async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await readSource("deploy/monitoring/grafana-dashboard.json"));
}

/** An expression of the dashboard as Prometheus takes it: variables have the values of all jobs and a minute. */
export function fillVariables(expression: string): string {
  return expression.replaceAll("$job", ".+").replaceAll("$__rate_interval", "1m");
}

/**
 * Whether a program of Debian's package `prometheus` is missing. Says so loudly.
 *
 * @throws Error instead when `CI` is set
 */
export function skipsWithout(tool: "prometheus" | "promtool"): boolean {
  if (Bun.which(tool) !== null) return false;
  const text = `tests with ${tool}: install Debian's package prometheus`;
  saySkipped(text);
  return true;
}

/** What an expression names. */
interface PromqlWords {
  /** Names of metrics, each once. */
  readonly metrics: readonly string[];
  /** Names of labels in selectors and groupings, each once. */
  readonly labels: readonly string[];
}

const OPERATORS = new Set(["and", "or", "unless", "bool", "offset", "inf", "nan"]);
const GROUPING = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const SELECTOR = /\{([^}]*)\}/g;
const RANGE = /\[[^\]]*\]/g;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const WORD = /(?<![\w.$])([a-zA-Z_:][\w:]*)\b(\s*\()?/g;

/** Reads an expression. Variables of Grafana may stand in strings and ranges. */
export function readPromql(expression: string): PromqlWords {
  const labels = new Set<string>();
  const take = (text: string): string => {
    for (const [, name = ""] of text.matchAll(/([a-zA-Z_]\w*)\s*(?:$|,|=|!)/g)) labels.add(name);
    return " ";
  };
  const rest = expression
    .replaceAll(STRING, '""')
    .replaceAll(SELECTOR, (_, inside: string) => take(inside))
    .replaceAll(GROUPING, (_, inside: string) => take(inside))
    .replaceAll(RANGE, " ");
  const metrics = new Set<string>();
  for (const [, word = "", call] of rest.matchAll(WORD)) {
    if (call === undefined && !OPERATORS.has(word.toLowerCase())) metrics.add(word);
  }
  return { metrics: [...metrics], labels: [...labels] };
}
