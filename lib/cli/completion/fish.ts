/**
 * Completions for fish. Pure.
 * @module
 */
import type { FlagSpec } from "../flags/spec.ts";
import { type Completed, listValues } from "./shells.ts";

const COMPLETE = "complete -c landfall";

/** The script. */
export function formatFish(commands: readonly Completed[]): string {
  const others = commands.map(({ name }) => name).filter((name) => name !== "run");
  const lines = commands.flatMap(({ name, summary, args, flags }) => {
    // Without a command landfall runs.
    const seen = "__fish_seen_subcommand_from";
    const when = name === "run" ? `not ${seen} ${others.join(" ")}` : `${seen} ${name}`;
    return [
      `${COMPLETE} -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
      ...(args.length === 0 ? [] : [`${COMPLETE} -n ${quote(when)} -a ${quote(args.join(" "))}`]),
      ...flags.map((flag) => `${COMPLETE} -n ${quote(when)} ${formatFlag(flag)}`),
    ];
  });
  return `# fish completion for landfall; load it with: landfall completion fish | source
${COMPLETE} -f
complete -c kubectl-landfall -w landfall
${lines.join("\n")}
`;
}

function formatFlag(flag: FlagSpec): string {
  const { name, short, type, help, isFile = false } = flag;
  const long = name.length === 1 ? [] : [`-l ${name}`];
  const letter = short === undefined ? [] : [`-s ${short}`];
  const values = listValues(flag);
  const value = isFile
    ? ["-r -F"]
    : values.length > 0
      ? [`-x -a ${quote(values.join(" "))}`]
      : ["-x"];
  const parts = [...long, ...letter, ...(type === "bool" ? [] : value), `-d ${quote(help)}`];
  return parts.join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
