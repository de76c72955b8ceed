/**
 * Breaks the program on purpose, one break after the other, and sees whether a test notices (`npm run breaks`).
 *
 * It works in copies of the work tree, so that the one that people work in is never touched.
 * @module
 */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readFlagNames, readFlagNumber, readFlags } from "../support/command_flags.ts";
import { ROOT } from "../support/sources.ts";
import { applyBreak, findCatch } from "./break.ts";
import { BREAKS } from "./breaks.ts";

/** Longer than any test file takes, and short enough for a break that makes it hang. */
const TEST_MS_MAX = 120_000;
const IDS = BREAKS.map(({ id }) => id);
const USAGE = `Usage: npm run breaks -- [options]

  --only ID,ID  some breaks (default: all; their IDs stand in test/breaks/)
  --jobs N      how many at once (default: 2)
`;

const { only, jobs } = readFlags(
  USAGE,
  {
    only: { type: "string", default: IDS.join(",") },
    jobs: { type: "string", default: "2" },
  },
  (values) => ({
    only: readFlagNames("--only", values.only, IDS),
    jobs: readFlagNumber("--jobs", values.jobs),
  }),
);

/** Copies what git knows or would add, as it stands in the work tree. Dependencies are linked, not copied. */
async function copyWorkTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "landfall-breaks-"));
  const list = Bun.spawnSync(["git", "ls-files", "-z", "-co", "--exclude-standard"], { cwd: ROOT });
  for (const file of list.stdout.toString().split("\0").filter(Boolean)) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    // A file that somebody just deleted is still known to git.
    await cp(join(ROOT, file), join(copy, file)).catch(() => undefined);
  }
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Does `work` with every item, so many at once, each time with a copy that nothing else uses meanwhile. */
async function spread<T>(
  items: readonly T[],
  work: (copy: string, item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const lane = async (): Promise<void> => {
    const copy = await copyWorkTree();
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        await work(copy, item);
      }
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, lane));
}

/** Runs a test file in a copy; the code is absent when it did not end in time. */
async function runTest(copy: string, file: string): Promise<{ code?: number; output: string }> {
  const child = Bun.spawn([process.execPath, "test", "--bail", "--timeout", "10000", `./${file}`], {
    cwd: copy,
    // Also the tests that only CI runs.
    env: { ...process.env, LANDFALL_TESTS: "all" },
    stdout: "pipe",
    stderr: "pipe",
    timeout: TEST_MS_MAX,
    killSignal: "SIGKILL",
  });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const output = out + error;
  return child.signalCode === "SIGKILL" ? { output } : { code, output };
}

const chosen = BREAKS.filter(({ id }) => only.includes(id));
let failures = 0;

// A test that fails without any break would catch everything.
await spread([...new Set(chosen.map(({ caughtBy }) => caughtBy))], async (copy, file) => {
  const { code, output } = await runTest(copy, file);
  if (code === 0) return;
  failures += 1;
  process.stderr.write(`${file} fails although nothing is broken:\n${output.slice(-4_000)}\n`);
});

if (failures === 0) {
  await spread(chosen, async (copy, one) => {
    const path = join(copy, one.file);
    const text = await readFile(path, "utf8");
    await writeFile(path, applyBreak(text, one));
    const { code, output } = await runTest(copy, one.caughtBy);
    await writeFile(path, text);
    const caught = findCatch(code, output);
    if (caught === undefined) failures += 1;
    process.stdout.write(`${one.id}: ${caught ?? `SURVIVED ${one.caughtBy}`}\n`);
  });
  process.stdout.write(`${chosen.length} breaks, ${failures} of them survived\n`);
}
process.exitCode = failures > 0 ? 1 : 0;
