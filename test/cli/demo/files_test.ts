import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import {
  type DemoEndpoints,
  toCheckFlags,
  toEnding,
  toDemoFiles,
  toEnvLines,
  writeEnv,
  writeKubeconfig,
} from "../../../lib/cli/demo/files.ts";
import { lacksShell } from "../../support/process/shells.ts";

const run = promisify(execFile);
const SERVER = "http://127.0.0.1:1";
const ENDPOINTS: DemoEndpoints = {
  debugAddress: { kind: "tcp", host: "127.0.0.1", port: 3 },
  checkFlags: ["--controllers=sipcluster"],
  clients: { env: { XOA_URL: "http://127.0.0.1:2", XOA_TOKEN: "it's \\ $1" } },
};
const COMPILED = { execPath: "/opt/landfall", argv: ["bun", "/$bunfs/root/landfall", "demo"] };
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-demo-files-"));
});
afterEach(() => rm(folder, { recursive: true }));
const files = (shell = "/bin/sh") => toDemoFiles(folder, { SHELL: shell });

test("writeKubeconfig() and writeEnv() write what clients need, for this user alone", async () => {
  const { kubeconfig, env, cloudConfig } = files();
  const settings = { provider: "external-cloudstack", text: "[Global]\n" };
  await writeKubeconfig(kubeconfig, SERVER);
  await writeEnv(files(), { ...ENDPOINTS, clients: { env: {}, settings } }, COMPILED);
  expect(parse(await readFile(kubeconfig, "utf8"))).toMatchObject({
    clusters: [{ cluster: { server: SERVER } }],
  });
  expect(await readFile(cloudConfig, "utf8")).toBe(settings.text);
  for (const path of [kubeconfig, env, cloudConfig]) {
    expect(((await stat(path)).mode & 0o777).toString(8), path).toBe("600");
  }
});

test.each([
  ["sh", "set -eu"],
  ["fish", ""],
])(
  "writeEnv() makes %s use the demo, also in scripts, with any character in a path or a token",
  async (shell, first) => {
    if (lacksShell(shell)) return;
    const script = join(folder, "my main.ts");
    await writeFile(
      script,
      'console.log(...process.argv.slice(2), process.env["XOA_TOKEN"], process.env["LANDFALL_DEBUG_ADDRESS"])',
    );
    const settings = { provider: "p", text: "" };
    const clients = { ...ENDPOINTS.clients, settings };
    const endpoints = { ...ENDPOINTS, clients };
    await writeEnv(files(), endpoints, { ...process, argv: [process.execPath, script] });
    await writeFile(
      join(folder, "script"),
      [
        first,
        toEnvLines(files(`/bin/${shell}`))
          .split("\n")
          .at(-1),
        'echo "$KUBECONFIG" "$XOA_URL"',
        "landfall check -o json",
        'landfall nodes "a b"',
        "landfall services --kept",
        "landfall",
      ].join("\n"),
    );
    const { stdout } = await run(shell, [join(folder, "script")]);
    const cloud = `--cloud-provider=p --cloud-config=${files().cloudConfig}`;
    const { XOA_URL, XOA_TOKEN } = ENDPOINTS.clients.env;
    expect(stdout.split("\n")).toEqual([
      `${files().kubeconfig} ${XOA_URL}`,
      `check ${cloud} --controllers=sipcluster -o json ${XOA_TOKEN} 127.0.0.1:3`,
      `nodes a b ${XOA_TOKEN} 127.0.0.1:3`,
      `services ${cloud} --kept ${XOA_TOKEN} 127.0.0.1:3`,
      `${XOA_TOKEN} 127.0.0.1:3`,
      "",
    ]);
  },
);

test("writeEnv() writes the path of a socket for any folder", async () => {
  const debugAddress = { kind: "unix", path: "./debug.sock" } as const;
  await writeEnv(files(), { ...ENDPOINTS, debugAddress }, COMPILED);
  const line = `export LANDFALL_DEBUG_ADDRESS=unix:${resolve("debug.sock")}`;
  expect((await readFile(files().env, "utf8")).split("\n")).toContain(line);
});

test("writeKubeconfig() leaves a file alone that exists", async () => {
  await writeFile(files().kubeconfig, "mine");
  await expect(writeKubeconfig(files().kubeconfig, SERVER)).rejects.toThrow("exists already");
  expect(await readFile(files().kubeconfig, "utf8")).toBe("mine");
});

test.each([
  ["of the compiled program", COMPILED.argv, "/opt/landfall"],
  [
    "of runtime and file when it runs from source, so that any folder will do",
    ["/opt/landfall", "main.ts", "demo"],
    `/opt/landfall ${resolve("main.ts")}`,
  ],
])("writeEnv() makes a function %s", async (_what, argv, program) => {
  await writeEnv(files(), ENDPOINTS, { ...COMPILED, argv });
  const lines = (await readFile(files().env, "utf8")).split("\n");
  expect(lines).toContain(`    *) ${program} "$@" ;;`);
});

test("writeEnv() gives check the settings of the cloud, if there are any", async () => {
  await writeEnv(files(), ENDPOINTS, COMPILED);
  await expect(stat(files().cloudConfig)).rejects.toThrow("ENOENT");
  await rm(files().env);
  await rm(`${files().env}.fish`);
  const settings = { provider: "external-cloudstack", text: "[Global]\n" };
  await writeEnv(files(), { ...ENDPOINTS, clients: { env: {}, settings } }, COMPILED);
  expect(await readFile(files().env, "utf8")).toContain(
    `check --cloud-provider=external-cloudstack --cloud-config=${files().cloudConfig} --controllers=sipcluster "$@"`,
  );
});

test("toCheckFlags() names the controllers and their flags", () => {
  expect(
    toCheckFlags([{ name: "a" }, { name: "b" }], { "x-names": "m", "x-grace": 1_000 }),
  ).toEqual(["--controllers=a,b", "--x-names=m", "--x-grace=1s"]);
});

test("toEnding() says that the cluster goes on, and what to try", () => {
  const ending = {
    files: files(),
    debugAddress: ENDPOINTS.debugAddress,
    page: "/debug/vinos",
    commands: ["landfall vinos"],
    left: "No Vino is left.",
  };
  const lines = toEnding(ending).split("\n");
  expect(lines[1]).toContain("The cluster keeps running until you press Ctrl-C. No Vino is left.");
  for (const line of [
    "  # in a browser: http://127.0.0.1:3/debug/vinos",
    `  . ${files().env}`,
    "  landfall check",
    "  landfall vinos",
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines).toContainEqual(expect.stringContaining("grants every right"));
});
