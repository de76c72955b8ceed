import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import {
  type DemoEndpoints,
  toCheckCommand,
  toEnvCommand,
  writeEnv,
  writeKubeconfig,
} from "../../../lib/cli/demo/files.ts";

const run = promisify(execFile);
const SERVER = "http://127.0.0.1:1";
const ENDPOINTS: DemoEndpoints = {
  debugAddress: { kind: "tcp", host: "127.0.0.1", port: 3 },
  clients: { env: { XOA_URL: "http://127.0.0.1:2", XOA_TOKEN: "it's $1" } },
};
const COMPILED = { execPath: "/opt/landfall", argv: ["bun", "/$bunfs/root/landfall", "demo"] };
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-demo-files-"));
});
afterEach(() => rm(folder, { recursive: true }));
const files = () => ({
  kubeconfig: join(folder, "kubeconfig"),
  env: join(folder, "env"),
  cloudConfig: join(folder, "cloud-config"),
});

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

test("writeEnv() makes a shell use the demo, with any character in a path or a token", async () => {
  const script = join(folder, "my main.ts");
  await writeFile(
    script,
    'console.log(process.argv[2], process.env["XOA_TOKEN"], process.env["LANDFALL_DEBUG_ADDRESS"])',
  );
  await writeEnv(files(), ENDPOINTS, { ...process, argv: [process.execPath, script] });
  const lines = [toEnvCommand(files()), 'echo "$KUBECONFIG"', 'echo "$XOA_URL"', "landfall check"];
  const { stdout } = await run("sh", ["-c", lines.join("\n")]);
  const { XOA_URL, XOA_TOKEN } = ENDPOINTS.clients.env;
  expect(stdout).toBe(`${files().kubeconfig}\n${XOA_URL}\ncheck ${XOA_TOKEN} 127.0.0.1:3\n`);
});

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
    `'/opt/landfall ${resolve("main.ts")}'`,
  ],
])("writeEnv() makes an alias %s", async (_what, argv, program) => {
  await writeEnv(files(), ENDPOINTS, { ...COMPILED, argv });
  const lines = (await readFile(files().env, "utf8")).split("\n");
  expect(lines).toContain(`alias landfall=${program}`);
});

test("writeEnv() writes no settings of a cloud that takes them from the environment", async () => {
  await writeEnv(files(), ENDPOINTS, COMPILED);
  await expect(stat(files().cloudConfig)).rejects.toThrow("ENOENT");
});

test.each([
  [undefined, "landfall check"],
  [
    { provider: "external-cloudstack", text: "" },
    "landfall check --cloud-provider=external-cloudstack '--cloud-config=/tmp/my demo/config'",
  ],
])("toCheckCommand() with the settings %j is %s", (settings, command) => {
  const clients = settings && { settings };
  expect(toCheckCommand({ cloudConfig: "/tmp/my demo/config" }, clients ?? {})).toBe(command);
});
