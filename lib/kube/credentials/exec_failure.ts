/**
 * Why the command of a plugin failed: how it ended, and the last thing that it said.
 * @module
 */
import { quote } from "../../core/printable.ts";
import { maskSecrets, redact, SECRET_NAME } from "../../core/redact.ts";
import type { ExecSpec } from "./exec_spec.ts";

/** So much of what it said is looked at, from its end. */
const TAIL_LENGTH_MAX = 4096;
/** A shorter word may stand in any text by chance. */
const GIVEN_LENGTH_MIN = 4;

/**
 * What to say of a command that failed; follows its name.
 *
 * Of what it printed on standard output nothing is shown, for there belong credentials. On standard error it says what
 * is wrong, and a careless one its token too: what it was given as a secret, and what looks like one, is left out.
 *
 * @param error What `execFile` rejected with
 * @param spec What the command was given
 * @param timeoutMs When it was killed
 */
export function toExecFailure(
  error: unknown,
  spec: Pick<ExecSpec, "args" | "env">,
  timeoutMs: number,
): string {
  const { code, killed, stderr } = Object(error) as Record<string, unknown>;
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES") return "may not be executed";
  return `${toEnd(code, killed, timeoutMs)}${toLastWords(stderr, spec)}`;
}

function toEnd(code: unknown, killed: unknown, timeoutMs: number): string {
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "printed more than 1 MiB";
  if (killed === true) return `did not end within ${timeoutMs / 1000} s`;
  return typeof code === "number" ? `ended with code ${code}` : "failed";
}

function toLastWords(stderr: unknown, spec: Pick<ExecSpec, "args" | "env">): string {
  const text = typeof stderr === "string" ? stderr : "";
  // What was cut may begin within a word that is a secret as a whole.
  const tail =
    text.length > TAIL_LENGTH_MAX ? text.slice(-TAIL_LENGTH_MAX).replace(/^\S*/, "") : text;
  const shown = maskSecrets(redact(tail, listGivenSecrets(spec)));
  const last = shown
    .trim()
    .split(/\s*\n\s*/)
    .at(-1);
  return last ? `, saying ${quote(last)}` : " and said nothing";
}

/** Everything in its environment, for people put secrets there, and arguments that are named as secrets. */
function listGivenSecrets({ args, env }: Pick<ExecSpec, "args" | "env">): string[] {
  const given = args.flatMap((arg, at) => {
    const [name = "", ...value] = arg.split("=");
    if (value.length > 0) return SECRET_NAME.test(name) ? [value.join("=")] : [];
    const before = args[at - 1] ?? "";
    return before.startsWith("-") && SECRET_NAME.test(before) ? [arg] : [];
  });
  return [...given, ...Object.values(env)].filter((secret) => secret.length >= GIVEN_LENGTH_MIN);
}
