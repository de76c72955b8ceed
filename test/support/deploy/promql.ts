/**
 * What a PromQL expression asks for: enough of a reader to know its metrics and labels.
 * @module
 */

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
