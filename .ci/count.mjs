// Adds up bun test's closing lines of several logs and prints them as `N passed, N failed, N skipped`.
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const total = { pass: 0, fail: 0, skip: 0, todo: 0 };
for (const file of process.argv.slice(2)) {
  const text = stripVTControlCharacters(readFileSync(file, "utf8"));
  for (const [, count, what] of text.matchAll(/^ ?(\d+) (pass|fail|skip|todo)\s*$/gm)) {
    total[what] += Number(count);
  }
}
console.log(`${total.pass} passed, ${total.fail} failed, ${total.skip + total.todo} skipped`);
process.exit(total.fail === 0 && total.pass > 0 ? 0 : 1);
