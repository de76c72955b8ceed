/**
 * Errors that more than one layer knows, and how an error is shown.
 * @module
 */

/** One thing that is wrong with the settings, and where it stands. */
export interface ConfigIssue {
  /** What is wrong and what was wanted, without full stop. Never holds a secret. */
  message: string;
  /** File, flag or environment variable that holds it. */
  source?: string;
  /** Path of the setting, like `addresses.exclude.0`. */
  path?: string;
  /** Line in the source, from 1. */
  line?: number;
  /** Column in the source, from 1. */
  column?: number;
  /** Whether it could be lived with, and is only told beside what cannot. */
  isWarning?: boolean;
}

/** Settings that cannot be used; the process prints all issues and exits with code 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Everything that is wrong, never just the first thing. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], options?: ErrorOptions) {
    super(issues.map(formatConfigIssue).join("\n"), options);
    this.issues = issues;
  }
}

/** Shows an issue as `source:line:column: path: message`, leaving out what is not known. */
export function formatConfigIssue(issue: ConfigIssue): string {
  const place = [issue.source, issue.line, issue.column].filter((part) => part !== undefined);
  return [place.join(":"), issue.path, issue.message].filter((part) => part).join(": ");
}

/** What the runtime adds to what it says of a connection: for those who write programs, not for those who run them. */
const RUNTIME_ADVICE =
  /\.? For more information, pass `verbose: true` in the second argument to fetch\(\)/g;

/** Causes may go round in a circle. */
const CAUSES_MAX = 8;

/** An error and its causes, outermost first, eight at most. What is thrown, and what causes it, may be anything. */
export function* listCauses(error: unknown): Generator<unknown, void> {
  let current = error;
  for (let depth = 0; current !== undefined && depth < CAUSES_MAX; depth += 1) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

/**
 * An error as one line: its message and those of its causes, outermost first, without advice of the runtime.
 * Not-errors are shown with `String`.
 */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (const one of listCauses(error)) {
    const said = one instanceof Error ? one.message || one.name : String(one);
    const text = said.replace(RUNTIME_ADVICE, "");
    // A wrapper often repeats its cause word for word; say it once.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(": ");
}
