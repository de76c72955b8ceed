/**
 * Completions in a real fish, where there is one.
 * @module
 */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatFish } from "../../../lib/cli/completion/fish.ts";
import { COMPLETED } from "../../support/completed.ts";
import { lacksShell } from "../../support/process/shells.ts";

const FISH = Bun.which("fish") ?? "fish";

function complete(line: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "landfall-fish-"));
  const file = join(folder, "landfall.fish");
  writeFileSync(file, formatFish(COMPLETED));
  const script = `source ${file}; complete -C '${line}'`;
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder };
  const out = execFileSync(FISH, ["--no-config", "-c", script], { encoding: "utf8", env });
  rmSync(folder, { recursive: true });
  return out
    .split("\n")
    .map((one) => one.split("\t")[0] ?? "")
    .filter((word) => word !== "");
}

test.skipIf(lacksShell("fish")).each<[string, string[]]>([
  ["landfall ", ["help", "pick", "run", "show"]],
  ["landfall sh", ["show"]],
  ["landfall show --o", ["--once", "--output"]],
  ["landfall show --output=", ["--output=json", "--output=text"]],
  ["landfall show -o ", ["json", "text"]],
  ["landfall --lo", ["--log"]],
  ["landfall run --lo", ["--log"]],
  ["landfall pick ", ["one", "two"]],
])("formatFish() completes `%s`", (line, words) => {
  expect(complete(line).toSorted()).toEqual(words);
});

test("formatFish() quotes what people wrote", () => {
  expect(formatFish(COMPLETED)).toContain(String.raw`-d 'It\'s [said]: once'`);
});
