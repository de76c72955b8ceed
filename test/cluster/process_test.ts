import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listPrograms, runLandfall, startLandfall } from "../support/landfall_process.ts";

const EXIT_MS_MAX = 60_000;

describe.each(listPrograms())("landfall as $name", (program) => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-process-test-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("ends with 2 and names every problem of its settings and its line (P-05)", async () => {
    const config = join(folder, "bad.yaml");
    await writeFile(config, "url: not a url\ninsecure: maybe\nclientTimeout: soon\ntoken: a b\n");
    const args = ["run", "--cloud-provider=xenorchestra", `--cloud-config=${config}`];
    const { code, stderr } = await runLandfall(program, [...args, "--debug-address=127.0.0.1:0"]);
    expect(code, stderr).toBe(2);
    const problems = stderr.split("\n").filter((line) => line.startsWith("landfall: "));
    for (const [at, key] of ["url", "insecure", "clientTimeout", "token"].entries()) {
      const line = problems.find((one) => one.includes(key) && one.includes(`bad.yaml:${at + 1}`));
      expect(line, `a problem of ${key} in:\n${stderr}`).toBeDefined();
    }
    expect(problems).toHaveLength(4);
  });

  test("ends with 2 and names every wrong flag (P-01)", async () => {
    const args = ["run", "--leader-elect=true", "--cloud-provder=static", "--controllers=nodes"];
    const { code, stderr } = await runLandfall(program, args);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain("--cloud-provider");
    expect(stderr).toContain("--leader-elect");
    expect(stderr).toContain("nodes");
  });

  test("ends with 2 when the kubeconfig is not there", async () => {
    const config = join(folder, "static.yaml");
    await writeFile(config, "instances: []\n");
    const path = join(folder, "missing.kubeconfig");
    const args = ["--cloud-provider=static", `--cloud-config=${config}`, "--leader-elect=false"];
    const { code, stderr } = await runLandfall(program, ["run", ...args, `--kubeconfig=${path}`]);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(path);
  });

  test(
    "plays the demo's story to its end and exits 0",
    async () => {
      const args = ["demo", "--once", "--debug-address=127.0.0.1:0"];
      const { code, stdout, stderr } = await runLandfall(program, args, { TMPDIR: folder });
      expect(stderr).toBe("");
      expect(stdout).toContain("Every step came true.");
      expect(code).toBe(0);
    },
    EXIT_MS_MAX,
  );

  test(
    "keeps the demo up until SIGTERM and then exits 0 and leaves no file",
    async () => {
      const demo = startLandfall(program, ["demo", "--debug-address=127.0.0.1:0"], {
        TMPDIR: join(folder),
      });
      await demo.waitForOutput("Ctrl-C ends it.");
      const { code, stderr } = await demo.stop();
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const left = [...new Bun.Glob("landfall-demo-*").scanSync({ cwd: folder, onlyFiles: false })];
      expect(left).toEqual([]);
    },
    EXIT_MS_MAX,
  );
});
