/**
 * The guides for CloudStack: the commands that they name against those that Landfall sends, and their scripts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Provider } from "../lib/cloud/provider.ts";
import { DELETION } from "../lib/cloud/settings/sections.ts";
import { parseProviderConfig } from "../lib/config/provider_config.ts";
import { systemClock } from "../lib/core/clock.ts";
import { LB_COMMANDS, ROLE_COMMAND } from "../lib/providers/cloudstack/load_balancers/commands.ts";
import { cloudStack } from "../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
} from "../lib/simulator/cloudstack/mod.ts";
import { toDeps, toSettings } from "./providers/cloudstack/fake_server.ts";
import { lacksPythonClient, PYTHON } from "./support/cloud/python_client.ts";
import { listCode, listCodeBlocks } from "./support/markdown_links.ts";
import { listSources, readSource } from "./support/sources.ts";

const run = promisify(execFile);
const PAGE = await readSource("docs/guides/permissions-cloudstack.md");
const [FOR_NODES = "", FOR_BALANCERS = ""] = PAGE.split("\n## ");
/** The first column of the first table, for Nodes, and that of the second one. */
const NAMED = listCommands(FOR_NODES);
const NAMED_FOR_BALANCERS = listCommands(FOR_BALANCERS);
/** Names of commands in the code. */
const COMMAND: RegExp = new RegExp(
  '"((?:list|create|update|delete|associate|disassociate|assignTo|removeFrom|query)' +
    "(?:VirtualMachines|Projects|Networks|PublicIpAddresses|IpAddress|Tags|LoadBalancerRule\\w*|FirewallRules?" +
    '|PortForwardingRules|NetworkACL\\w*|LBStickinessPolic\\w+|AsyncJob\\w*|Events|Users|Capabilities))"',
  "g",
);

function listCommands(part: string): readonly string[] {
  return [...part.matchAll(/^\| `(\w+)` +\|/gm)].map(([, command = ""]) => command);
}
const demo = createDemoWorld();
const { signal } = new AbortController();

async function startCloud(): Promise<CloudStackSimulator> {
  return await startCloudStackSimulator({ clock: systemClock, world: demo.world });
}

function open({ url }: CloudStackSimulator, keys: object, more: object = {}): Provider {
  const settings = toSettings(url, { ...keys, ...more });
  return cloudStack.create(settings, { ...toDeps(), clock: systemClock });
}

describe("permissions-cloudstack.md", () => {
  test("names every command that Landfall sends, and no other one is needed", async () => {
    const cloud = await startCloud();
    try {
      const { apiKey, secretKey, user, state } = cloud;
      user.role = { name: "landfall", commands: NAMED };
      state.projects.forEach((project) => (project.state = "Active"));
      const provider = open(cloud, { apiKey, secretKey }, { projectId: "platform" });
      const runner = { name: "runner" };
      const inventory = await provider.listInventory([runner], signal);
      expect(provider.findInstance(inventory, runner)).toMatchObject({ kind: "present" });
      expect(await provider.inspect?.(signal)).toMatchObject({ counts: { vms: 1 } });
      for (const name of ["runner", "absent.example", "worker-1"]) {
        const vmId = demo.machines.get(name)?.vmId;
        const providerId = vmId && `external-cloudstack://${vmId}`;
        const node = { name, ...(providerId && { providerId }) };
        const presence = await provider.readInstance(inventory, node, signal);
        expect(presence, name).not.toMatchObject({ reason: "denied" });
      }
      const sent = new Set(cloud.requests.entries.map(({ command }) => command));
      expect([...sent].toSorted()).toEqual(NAMED.toSorted());
    } finally {
      await cloud.stop();
    }
  });

  test("names every command in the code, and no other one", async () => {
    const inCode = new Set<string>([ROLE_COMMAND]);
    for (const file of await listSources("lib/providers/cloudstack")) {
      if (file.endsWith("load_balancers/commands.ts")) continue;
      const text = await readSource(file);
      for (const [, name = ""] of text.matchAll(COMMAND)) inCode.add(name);
    }
    expect([...inCode].toSorted()).toEqual([...NAMED, ...NAMED_FOR_BALANCERS].toSorted());
  });

  test("says of each command for load balancers what check says of it", () => {
    const rows = new Map(
      FOR_BALANCERS.split("\n")
        .map((line) => line.split("|").map((cell) => cell.trim()))
        .map(([, name = "", purpose = ""]) => [name.replaceAll("`", ""), purpose]),
    );
    for (const { name, purpose } of LB_COMMANDS) expect(rows.get(name)).toBe(purpose);
    const names = LB_COMMANDS.map(({ name }) => name);
    expect([...names, ROLE_COMMAND].toSorted()).toEqual(NAMED_FOR_BALANCERS.toSorted());
  });
});

describe("settings in the guides for CloudStack", () => {
  const options = { path: "example", env: {}, definition: cloudStack, sections: [DELETION] };

  test("every example of settings is accepted without a word", async () => {
    const page = await readSource("docs/guides/configure-cloudstack.md");
    const examples = [...listCodeBlocks(page, "ini"), ...listCodeBlocks(page, "yaml")];
    expect(examples.length).toBeGreaterThan(2);
    for (const text of examples) {
      // An example may be of one section.
      const whole = /api-?url/i.test(text) ? text : `${examples[0]}\n${text}`;
      const { warnings } = await parseProviderConfig(whole, options);
      expect(warnings, text).toEqual([]);
    }
    const [ini, yaml] = [examples[0] ?? "", examples.at(-1) ?? ""];
    const read = await parseProviderConfig(yaml, options);
    const same = { ...read, syntax: "INI", use: expect.any(Function) };
    expect(await parseProviderConfig(ini, options)).toEqual(same);
  });

  test.each(["configure", "permissions", "troubleshooting"])(
    "every key of the INI file that the %s page names is one",
    async (name) => {
      const settings = [...cloudStack.settings, ...DELETION.settings];
      const keys = new Set(settings.map(({ path }) => spellKey(path.split(".").at(-1) ?? "")));
      const page = await readSource(`docs/guides/${name}-cloudstack.md`);
      const named = listCode(page.replaceAll(/^ *```[^]*?^ *```$/gm, "")).flatMap(
        (text) => /^([a-z]+(?:-[a-z]+)+)(?: =|$)/.exec(text)?.[1] ?? [],
      );
      expect(named.filter((key) => !keys.has(key) && !OTHER_NAMES.has(key))).toEqual([]);
      expect(named.length).toBeGreaterThan(0);
    },
  );
});

/** Files and other names with dashes. */
const OTHER_NAMES = new Set([
  "cloud-config",
  "cloud-node-out-of-service",
  "cloudstack-service-controller",
  "external-cloudstack",
]);

/** `apiUrl` is `api-url`. */
function spellKey(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
}

const isSkipped = lacksPythonClient("the script of permissions-cloudstack.md");

describe.skipIf(isSkipped)("the script of permissions-cloudstack.md", () => {
  const [script = ""] = listCodeBlocks(PAGE, "sh");
  let folder = "";
  let cloud: CloudStackSimulator;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-guide-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs it in a folder of its own, as the administrator of a new simulator. */
  async function runScript(name: string, variables: Record<string, string>): Promise<string> {
    cloud = await startCloud();
    cloud.settings.enforcesPostAndTimestamps = true;
    const admin = [...cloud.state.users.values()].find(({ username }) => username === "admin");
    const cwd = await mkdtemp(join(folder, `${name}-`));
    const env = {
      PATH: `${dirname(PYTHON)}:/bin`,
      CLOUDSTACK_ENDPOINT: cloud.url,
      CLOUDSTACK_KEY: admin?.apiKey ?? "",
      CLOUDSTACK_SECRET: admin?.secretKey ?? "",
      ...variables,
    };
    await run("sh", ["-c", script], { cwd, env, timeout: 30_000 });
    return cwd;
  }

  const readKey = async (path: string): Promise<string> => {
    expect(((await stat(path)).mode & 0o777).toString(8), path).toBe("600");
    return await readFile(path, "utf8");
  };

  test.each([
    ["a project", { PROJECT_ID: demo.projectId }, { projectId: demo.projectId }, ["runner"]],
    ["a domain", { DOMAIN_ID: demo.world.domains?.[0]?.id ?? "" }, {}, ["worker-1", "build"]],
  ])(
    "makes keys that see the VMs of %s, with a role that allows the commands of the page",
    async (what, variables, more, vms) => {
      const cwd = await runScript(what.replace(" ", "-"), variables);
      try {
        const [apiKey, secretKey] = [join(cwd, "api-key"), join(cwd, "secret-key")];
        const keys = { apiKey: await readKey(apiKey), secretKey: await readKey(secretKey) };
        const inventory = await open(cloud, keys, more).listInventory([], signal);
        const names = [...inventory.instances.values()].map(({ name }) => name);
        expect(names).toEqual(expect.arrayContaining(vms));
        const user = [...cloud.state.users.values()].find(
          ({ username }) => username === "landfall",
        );
        expect(user?.role.commands).toEqual([...NAMED, ...NAMED_FOR_BALANCERS]);
      } finally {
        await cloud.stop();
      }
    },
  );

  test("waits for a server that needs longer than the ten seconds of the client", async () => {
    const [settings = ""] = script.split("umask");
    const ask = `${PYTHON} -c 'import cs; print(cs.read_config()["timeout"])'`;
    const { stdout } = await run("sh", ["-c", settings + ask], { env: { PATH: "/bin" } });
    expect(Number(stdout)).toBeGreaterThanOrEqual(60);
  });

  test("stops at the first command that fails, says why, and leaves no file", async () => {
    const projectId = "11111111-1111-4111-8111-111111111111";
    const said = await runScript("wrong", { PROJECT_ID: projectId }).then(
      () => "it went on",
      (error: Error) => error.message,
    );
    expect(said).toMatch(/^CloudStackApiException: .*listprojects/im);
    expect(said).not.toContain("Traceback");
    expect(cloud.state.roles.size).toBe(0);
    const left = await readdir(folder);
    const wrong = left.find((name) => name.startsWith("wrong-")) ?? "";
    expect(await readdir(join(folder, wrong))).toEqual([]);
    await cloud.stop();
  });
});
