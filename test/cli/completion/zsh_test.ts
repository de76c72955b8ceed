/**
 * Completions in a real zsh, where there is one.
 * @module
 */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatZsh } from "../../../lib/cli/completion/zsh.ts";
import { COMPLETED } from "../../support/completed.ts";
import { lacksShell } from "../../support/process/shells.ts";

/**
 * zsh completes at a terminal only: this types into one of its own, and writes down every word that is offered. Its
 * marks are quoted, so that the echo of what is typed is not taken for the answer.
 */
const TYPIST = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= ; autoload -U compinit; compinit -D -u; source $1"
zpty -w shell 'compadd() { builtin compadd -O words "$@"; print -l -- $words >> '$2'; builtin compadd "$@"; }'
zpty -w shell "typed() { zle expand-or-complete; print -r -- DO''NE }; zle -N typed; bindkey '^I' typed"
zpty -w shell "print -r -- REA''DY"
zpty -r -m shell line '*READY*'
zpty -n -w shell "$3"$'\\t'
zpty -r -m shell line '*DONE*'
zpty -d shell
`;

function complete(line: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "landfall-zsh-"));
  const [file, typist, words] = ["landfall", "typist", "words"].map((name) => join(folder, name));
  if (!file || !typist || !words) throw new Error("three files");
  writeFileSync(file, formatZsh(COMPLETED));
  writeFileSync(typist, TYPIST);
  writeFileSync(words, "");
  execFileSync("zsh", ["-f", typist, file, words, line], { timeout: 10_000, cwd: folder });
  const out = execFileSync("cat", [words], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return [...new Set(out.split("\n").filter((word) => word !== ""))];
}

test.skipIf(lacksShell("zsh")).each<[string, string[]]>([
  ["landfall ", ["help", "pick", "run", "show"]],
  ["landfall sh", ["show"]],
  ["landfall show --o", ["--once", "--output"]],
  ["landfall show --output=", ["json", "text"]],
  ["landfall show -o ", ["json", "text"]],
  ["landfall --lo", ["--log"]],
  ["landfall run --lo", ["--log"]],
  ["landfall pick t", ["two"]],
])("formatZsh() completes `%s`", (line, words) => {
  expect(complete(line).toSorted()).toEqual(words);
});
