/**
 * Errors that more than one layer uses, and how to show an error.
 * @module
 */

/** One problem of the settings, and its place. */
export interface ConfigIssue {
  /** The problem and the accepted values, without full stop. Never holds a secret. */
  message: string;
  /** File, flag or environment variable that holds it. */
  source?: string;
  /** Path of the setting, like `addresses.exclude.0`. */
  path?: string;
  /** Line in the source, from 1. */
  line?: number;
  /** Column in the source, from 1. */
  column?: number;
  /** Whether it is only a warning, shown together with errors. */
  isWarning?: boolean;
  /** For a setting that is missing: paths of the settings of which any one would help. */
  solvedBy?: readonly string[];
}

/** Settings that cannot be used; the process prints all issues and exits with code 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** All problems, never just the first. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], options?: ErrorOptions) {
    super(issues.map(formatConfigIssue).join("\n"), options);
    this.issues = issues;
  }
}

/** Shows an issue as `source:line:column: path: message`, without unknown parts; a warning among problems says so. */
export function formatConfigIssue(issue: ConfigIssue): string {
  const place = [issue.source, issue.line, issue.column].filter((part) => part !== undefined);
  const kind = issue.isWarning ? "warning" : undefined;
  return [place.join(":"), kind, issue.path, issue.message].filter((part) => part).join(": ");
}

/** A sentence that the runtime adds to messages about connections. It is advice for programmers, not for operators. */
const RUNTIME_ADVICE =
  /\.? For more information, pass `verbose: true` in the second argument to fetch\(\)/g;

/** Causes may form a circle. */
const CAUSES_MAX = 8;

/** An error and its causes, outermost first, eight at most. A thrown value or a cause may be of any type. */
export function* listCauses(error: unknown): Generator<unknown, void> {
  let current = error;
  for (let depth = 0; current !== undefined && depth < CAUSES_MAX; depth += 1) {
    yield current;
    current = current instanceof Error ? current.cause : undefined;
  }
}

/**
 * An error as one line: its message and those of its causes, outermost first, without advice of the runtime.
 * A value that is not an error is shown with `String`.
 */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (const one of listCauses(error)) {
    const said = one instanceof Error ? one.message || one.name : String(one);
    const text = said.replace(RUNTIME_ADVICE, "").replaceAll(/\s*[\r\n]+\s*/g, "; ");
    // A wrapper often repeats the text of its cause; show it once.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(": ");
}

/** The short code of an error, such as `ECONNREFUSED`; empty without one. */
export function findErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** A broken invariant. No code catches it: the process ends with exit code 1 and its supervisor restarts it. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/**
 * Ends in an {@linkcode AssertionError} when `condition` is false.
 *
 * @param condition What must hold here if Landfall is right
 * @param message What was expected, as `Cannot <do> "<what>": <current state>`
 * @throws {AssertionError} when the condition is false
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}
