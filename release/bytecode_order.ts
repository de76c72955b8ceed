/**
 * `npm run bytecode-order`: records which code a start uses, so that `npm run build` can put that code together in the
 * binary. Without it, the kernel loads it with the pages of code that a start does not use.
 *
 * Build first. The list stays right for the code that did not change since, so once for each release is enough.
 * @module
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Controller } from "../bench/controller.ts";
import { Simulators } from "../bench/processes.ts";
import { DONE_MS, READY_MS, waitFor } from "../bench/waiting.ts";

const FILE = join(import.meta.dir, "bytecode_order.txt");
const BINARY = "dist/landfall";
const NODES = 100;
/** Longer than one refresh interval. */
const REST_MS = 35_000;

/** Runs the controllers of Nodes like the benchmark, and returns what Bun wrote about it. */
async function record(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-order-"));
  try {
    const file = join(folder, "order");
    process.env["BUN_BYTECODE_ORDER_OUT"] = file;
    await using simulators = await Simulators.start(NODES);
    const { places } = simulators;
    await using controller = await Controller.start({ binary: BINARY, places });
    await controller.untilProbe("/readyz", READY_MS);
    await simulators.register();
    await waitFor(simulators, ({ initialised }) => initialised === NODES, DONE_MS);
    await Bun.sleep(REST_MS);
    // Bun writes the file when the process ends.
    await controller.stop();
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sorted, so that the next list differs in few lines, and without the functions (K) that the start did not use. */
function toOrder(recorded: string): string {
  const [version = "", ...lines] = recorded.trimEnd().split("\n");
  return `${[version, ...lines.filter((line) => !line.startsWith("K ")).sort()].join("\n")}\n`;
}

await writeFile(FILE, toOrder(await record()));
process.exit(0);
