import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { toCheckCommand, toNodesCommand, writeDemoFiles } from "../../../lib/cli/demo/files.ts";

const ENDPOINTS = {
  kubernetes: "http://127.0.0.1:1",
  cloud: { url: "http://127.0.0.1:2", token: "t: #1" },
};
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-demo-files-"));
});
afterEach(() => rm(folder, { recursive: true }));
const files = () => ({ kubeconfig: join(folder, "kubeconfig"), settings: join(folder, "a.yaml") });

test("writeDemoFiles() writes what clients need, for this user alone", async () => {
  await writeDemoFiles(files(), ENDPOINTS);
  const { kubeconfig, settings } = files();
  expect(parse(await readFile(settings, "utf8"))).toEqual(ENDPOINTS.cloud);
  expect(parse(await readFile(kubeconfig, "utf8"))).toMatchObject({
    clusters: [{ cluster: { server: ENDPOINTS.kubernetes } }],
  });
  for (const path of [kubeconfig, settings]) {
    expect(((await stat(path)).mode & 0o777).toString(8), path).toBe("600");
  }
});

test("writeDemoFiles() leaves a file alone that exists", async () => {
  await writeFile(files().kubeconfig, "mine");
  await expect(writeDemoFiles(files(), ENDPOINTS)).rejects.toThrow("exists and is left alone");
  expect(await readFile(files().kubeconfig, "utf8")).toBe("mine");
});

test.each([
  {
    title: "names the compiled program",
    argv: ["bun", "/$bunfs/root/landfall", "demo"],
    program: "/opt/landfall",
  },
  {
    title: "names runtime and file when it runs from source, so that any folder will do",
    argv: ["/opt/landfall", "main.ts", "demo"],
    program: `/opt/landfall ${resolve("main.ts")}`,
  },
])("toCheckCommand() $title", ({ argv, program }) => {
  const command = toCheckCommand(
    { kubeconfig: "/tmp/my cluster/it's", settings: "/tmp/a.yaml" },
    { execPath: "/opt/landfall", argv },
  );
  expect(command).toBe(
    `${program} check --cloud-config=/tmp/a.yaml '--kubeconfig=/tmp/my cluster/it'\\''s' --leader-elect=false`,
  );
});

test("toNodesCommand() names the address of the debug pages", () => {
  const program = { execPath: "/opt/landfall", argv: ["bun", "/$bunfs/root/landfall", "demo"] };
  const address = { kind: "tcp", host: "127.0.0.1", port: 1 } as const;
  expect(toNodesCommand(address, program)).toBe("/opt/landfall nodes --debug-address=127.0.0.1:1");
});
