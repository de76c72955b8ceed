/**
 * A limit on a count says little if each one counted may cost anything. So the work of the worst inputs is counted.
 */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { tries } from "../support/extent.ts";

test("no input within its limits is much work", async () => {
  const main = fileURLToPath(import.meta.resolve("./work/budgets.ts"));
  await using child = Bun.spawn([process.execPath, main, `${tries(40).numRuns}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(await new Response(child.stdout).json()).toEqual([]);
}, 60_000);
