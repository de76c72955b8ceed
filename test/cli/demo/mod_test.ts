import { expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { demo } from "../../../lib/cli/demo/mod.ts";
import { STORY } from "../../../lib/cli/demo/story.ts";
import { PacedClock } from "../../support/paced_clock.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
/** So much faster than the demo plays the test. */
const PACE = 6;
const LANDFALL = `"${process.execPath}" "${join(ROOT, "main.ts")}"`;

test("demo() --once plays the story, ends with 0 and tells every step", async () => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-test-"));
  const kubeconfig = join(folder, "kubeconfig");
  let out = "";
  let check: Promise<{ readonly stdout: string }> | undefined;
  const clock = new PacedClock(PACE);
  const code = await demo(
    ["--once", "--debug-address", "127.0.0.1:0", "--kubeconfig", kubeconfig],
    {
      env: {},
      clock,
      print: (text) => {
        out += text;
        const [source] = /^ +\. .*\/env$/m.exec(text) ?? [];
        if (source === undefined) return;
        // The story waits for it. What it finds of the first step decides its exit code.
        clock.setPace(0);
        const command = `${source}\n${LANDFALL} check -o json || true`;
        check = run("sh", ["-c", command]).finally(() => clock.setPace(PACE));
      },
      complain: (text) => (out += text),
    },
  );
  expect(code).toBe(0);
  expect(out).toContain("Every step succeeded.");
  expect(out.match(/^ {5}OK$/gm)).toHaveLength(STORY.length);
  expect(out).toContain("worker-uefi is xenorchestra://");
  expect(out).toContain("worker-late: NodeInitializationFailed");
  expect(out).toContain("worker-1: NodeZoneChanged");
  expect(out).toContain("worker-3: NodeDeletionBlocked");
  expect(out).toContain("worker-2: DeletingNode: ");
  expect(out.match(/^ {2}- {2}\S+ is deleted$/gm)).toEqual(["  -  worker-2 is deleted"]);
  expect(out).toContain("Figures: 9 Nodes, 1 of them deleted");
  expect(out).toMatch(/in total +\d+ {3}\d+ for \d+ inventories/);
  expect(await readFile(kubeconfig, "utf8")).toContain("current-context: demo");
  const { stdout = "{}" } = (await check) ?? {};
  expect(JSON.parse(stdout)).toMatchObject({
    settings: { status: "ok" },
    cloud: { counts: { pools: 2 } },
    kubernetes: { status: "ok" },
  });
  await rm(folder, { recursive: true });
}, 120_000);

test.each([
  ["--kubeconfig=FILE that exists", "exists already"],
  ["--kubeconfig=/nowhere/kubeconfig", 'cannot write "/nowhere/kubeconfig"'],
  ["--debug-address=0.0.0.0:0", "loopback"],
])("demo() refuses %s", async (flag, message) => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-test-"));
  const file = join(folder, "precious");
  await writeFile(file, "mine");
  const argv = [flag.replace("FILE that exists", file), "--once"];
  await expect(demo(argv, { env: {}, print: () => {}, complain: () => {} })).rejects.toThrow(
    message,
  );
  expect(await readFile(file, "utf8")).toBe("mine");
  await rm(folder, { recursive: true });
});

test("demo() prints nothing when its port is taken", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  let out = "";
  const print = (text: string): void => void (out += text);
  const argv = ["--once", `--debug-address=127.0.0.1:${other.port}`];
  const ended = demo(argv, { env: {}, print, complain: print });
  await expect(ended).rejects.toThrow("--debug-address");
  expect(out).toBe("");
});
