/**
 * Completions for zsh. Pure.
 * @module
 */
import type { FlagSpec } from "../flags/spec.ts";
import { type Completed, listValues } from "./shells.ts";

/** The script: it works when it is sourced, and as a file `_landfall` in `fpath`. */
export function formatZsh(commands: readonly Completed[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  return `#compdef landfall kubectl-landfall
# zsh completion for landfall; load it with: source <(landfall completion zsh)
_landfall() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  local command=run
  if [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    (( CURRENT -= 1 ))
  fi
  case $command in
${commands.map(toCase).join("\n")}
  esac
}
if [[ $funcstack[1] == _landfall ]]; then
  _landfall "$@"
else
  (( $+functions[compdef] )) || { autoload -U compinit && compinit; }
  compdef _landfall landfall kubectl-landfall
fi
`;
}

function toCase({ name, args, flags }: Completed): string {
  const specs = [
    ...flags.flatMap(listSpecs),
    ...(args.length === 0 ? [] : [quote(`1:argument:(${args.join(" ")})`)]),
  ];
  return `    ${name})\n      _arguments \\\n        ${specs.join(" \\\n        ")}\n      ;;`;
}

function listSpecs(flag: FlagSpec): string[] {
  const { name, short, type, help } = flag;
  const shown = help.replaceAll(/[[\]:\\]/g, "\\$&");
  const values = listValues(flag);
  const action = values.length > 0 ? `(${values.join(" ")})` : flag.isFile ? "_files" : "";
  const value = type === "bool" ? "" : `:value:${action}`;
  // After = or a blank.
  const long = `--${name}${type === "bool" ? "" : "="}[${shown}]${value}`;
  if (short === undefined) return [quote(long)];
  const one = `-${short}[${shown}]${value}`;
  return short === name ? [quote(one)] : [quote(long), quote(one)];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
