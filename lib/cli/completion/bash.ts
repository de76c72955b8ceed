/**
 * Completions for bash, from version 3.2 on. Pure.
 * @module
 */
import { type Completed, listForms, listValues } from "./shells.ts";

/** The script. Names and values of the tables hold no character that bash would interpret. */
export function formatBash(commands: readonly Completed[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return `# bash completion for landfall; load it with: source <(landfall completion bash)
_landfall() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=run flag= words=
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then
    COMPREPLY=($(compgen -W "${names}" -- "$cur"))
    return
  fi
  [[ \${COMP_WORDS[1]} != -* ]] && command=\${COMP_WORDS[1]}
  # bash makes words of --flag=value: the flag, the equals sign, the value.
  if [[ $cur == = ]]; then
    flag=$prev cur=
  elif [[ $prev == = ]]; then
    flag=\${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $prev == -* ]]; then
    flag=$prev
  fi
  case $command:$flag in
${commands.flatMap(listValueCases).join("\n")}
  esac
  case $command in
${commands.map(toWordCase).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _landfall landfall kubectl-landfall
`;
}

function listValueCases({ name, flags }: Completed): string[] {
  return flags
    .filter(({ type }) => type !== "bool")
    .map((flag) => {
      const pattern = listForms(flag)
        .map((form) => `${name}:${form}`)
        .join("|");
      // Without a reply bash completes files by itself.
      const values = listValues(flag).join(" ");
      const reply = values === "" ? "" : ` COMPREPLY=($(compgen -W "${values}" -- "$cur"));`;
      return `    ${pattern})${reply} return ;;`;
    });
}

function toWordCase({ name, args, flags }: Completed): string {
  const shown = flags.flatMap((flag) => {
    const [long = "", short] = listForms(flag);
    return [flag.type === "bool" ? long : `${long}=`, ...(short === undefined ? [] : [short])];
  });
  // Flags are offered once a dash is typed, where there is something else to type.
  const words =
    args.length === 0
      ? `words="${shown.join(" ")}"`
      : `if [[ $cur == -* ]]; then words="${shown.join(" ")}"; else words="${args.join(" ")}"; fi`;
  return `    ${name}) ${words} ;;`;
}
