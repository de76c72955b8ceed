/**
 * Commands of the guides, run as they stand; those that need a cluster are in test/cluster/install/guides_test.ts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../lib/core/clock.ts";
import { OWN_CLIENT } from "../lib/providers/xenorchestra/session/tokens.ts";
import {
  formatPrivilege,
  PRIVILEGES,
  USER_ID,
} from "../lib/providers/xenorchestra/machines/privileges.ts";
import { startXenOrchestraSimulator } from "../lib/simulator/xenorchestra/mod.ts";
import { listCodeBlocks } from "./support/markdown_links.ts";
import { readSource, ROOT } from "./support/sources.ts";
import { saySkipped } from "./support/skip.ts";

const run = promisify(execFile);
const GUIDE = "docs/guides/permissions-xenorchestra.md";
const page = await readSource(GUIDE);
const blocks = listCodeBlocks(page, "sh");
/** A block of the guide. The environment sets what the user sets in its first lines. */
const findBlock = (word: string): string => {
  const block = blocks.find((text) => text.includes(word));
  if (block === undefined) throw new Error(`Cannot find a block with "${word}" in ${GUIDE}`);
  return block.replaceAll(/^(XOA_URL|XO_ADMIN_TOKEN|XO_PASSWORD)=.*\n/gm, "");
};
/** Tokens of such a client are Landfall's own. */
const OWN = new RegExp(`^${OWN_CLIENT}.`);
const isSkipped = lacksCurl();

describe.skipIf(isSkipped)("the commands of permissions-xenorchestra.md", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-guide-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("make a user and a role that may read six kinds of objects, as a real server took them", async () => {
    using server = startRecorder();
    const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins", XO_PASSWORD: "pw" };
    await run("sh", ["-c", findBlock("acl-roles")], { env: { ...process.env, ...env } });
    const privileges = ["vm", "host", "pool", "network", "vif", "server"].map((resource) => ({
      line: "POST /rest/v0/acl-privileges",
      body: { action: "read", resource, effect: "allow", roleId: "id-2" },
    }));
    expect(server.requests).toEqual([
      { line: "POST /rest/v0/users", body: { name: "landfall", password: "pw" } },
      {
        line: "POST /rest/v0/acl-roles",
        body: { name: "landfall", description: expect.any(String) },
      },
      ...privileges,
      { line: "PUT /rest/v0/acl-roles/id-2/users/id-1", body: undefined },
    ]);
    expect(new Set(server.cookies)).toEqual(new Set(["authenticationToken=admins"]));
  });

  test("stop at the first step that fails, and say what to do before a second try", async () => {
    using server = startRecorder({ refused: "acl-roles" });
    const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins", XO_PASSWORD: "pw" };
    const { code, stdout, stderr } = await runShell(findBlock("acl-roles"), { env });
    expect(code).not.toBe(0);
    expect(server.requests.map(({ line }) => line)).toEqual([
      "POST /rest/v0/users",
      "POST /rest/v0/acl-roles",
    ]);
    expect(stdout).toEndWith("Make the role landfall\n");
    expect(stderr).toContain("error: 403");
    expect(stderr).toContain("delete the user and the role landfall");
  });

  test("delete before a second try only the user and the role with exactly that name", async () => {
    const toList = (...names: string[]) => names.map((name, at) => ({ id: `${name}-${at}`, name }));
    const lists = {
      "/rest/v0/users": toList("admin", "landfall", "landfall2"),
      "/rest/v0/acl-roles": toList("Read only", "my landfall", "landfall"),
    };
    for (const indent of [0, 2]) {
      using server = startRecorder({ lists, indent });
      const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins" };
      const { code, stdout, stderr } = await runShell(findBlock("DELETE"), { env });
      expect(code, stderr).toBe(0);
      expect(stdout).toBe("Deleted users/landfall-1\nDeleted acl-roles/landfall-2\n");
      expect(server.requests.map(({ line }) => line)).toEqual([
        "GET /rest/v0/users",
        "DELETE /rest/v0/users/landfall-1",
        "GET /rest/v0/acl-roles",
        "DELETE /rest/v0/acl-roles/landfall-2",
      ]);
    }
  });

  test("delete nothing where there is nothing to delete", async () => {
    using server = startRecorder({ lists: { "/rest/v0/users": [], "/rest/v0/acl-roles": [] } });
    const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins" };
    expect(await runShell(findBlock("DELETE"), { env })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(server.requests).toHaveLength(2);
  });

  test("stop when an answer has no ID", async () => {
    using server = startRecorder({ id: "" });
    const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins", XO_PASSWORD: "pw" };
    const { code } = await runShell(findBlock("acl-roles"), { env });
    expect(code).not.toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  test("make a user and the role that may make VMs, with every privilege of the table", async () => {
    using server = startRecorder();
    const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins", XO_PASSWORD: "pw" };
    const outcome = await runShell(findBlock("vino-role.json"), { env, cwd: ROOT });
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(outcome.stdout).toEndWith("Done\n");
    const privileges = PRIVILEGES.map(({ resource, action, selector }) => ({
      line: "POST /rest/v0/acl-privileges",
      body: {
        effect: "allow",
        resource,
        action,
        ...(selector !== undefined && { selector: selector.replace(USER_ID, "id-1") }),
        roleId: "id-2",
      },
    }));
    const name = "landfall-vino";
    expect(server.requests).toEqual([
      { line: "POST /rest/v0/users", body: { name, password: "pw" } },
      { line: "POST /rest/v0/acl-roles", body: { name, description: expect.any(String) } },
      ...privileges,
      { line: "PUT /rest/v0/acl-roles/id-2/users/id-1", body: undefined },
    ]);
  });

  test.each([
    { refused: "acl-privileges", cwd: ROOT, last: "POST /rest/v0/acl-privileges", count: 3 },
    // Without the file with the role, nothing is made.
    { refused: "nothing", cwd: tmpdir(), last: undefined, count: 0 },
  ])(
    "stop while they give that role its privileges, before any user has it: $refused",
    async ({ refused, cwd, last, count }) => {
      using server = startRecorder({ refused });
      const env = { XOA_URL: server.url, XO_ADMIN_TOKEN: "admins", XO_PASSWORD: "pw" };
      const { code, stdout, stderr } = await runShell(findBlock("vino-role.json"), { env, cwd });
      expect(code).not.toBe(0);
      expect(stdout).not.toContain("Done");
      expect(stderr).toContain("delete the user and the role landfall-vino");
      expect(server.requests).toHaveLength(count);
      expect(server.requests.at(-1)?.line).toBe(last);
    },
  );

  test("the guide says of each privilege to make VMs which objects it is for, and why", () => {
    const rows = page.matchAll(/^\| `([\w-]+ [\w:-]+)` +\| (\S+) +\| (.+?) +\|$/gm);
    expect([...rows].map(([, name, objects, why]) => ({ name, objects, why }))).toEqual(
      PRIVILEGES.map((one) => ({
        name: formatPrivilege(one),
        objects: one.selector === undefined ? "all" : `\`${one.selector}\``,
        why: one.purpose,
      })),
    );
  });

  test("keep the file of the old token when Xen Orchestra refuses to make a new one", async () => {
    using server = startRecorder({ refused: "authentication_tokens" });
    await writeFile(join(folder, "token"), "old\n");
    const env = { XOA_URL: server.url, XO_PASSWORD: "wrong" };
    const script = findBlock("authentication_tokens");
    const { code, stderr } = await runShell(script, { env, cwd: folder });
    expect(code).not.toBe(0);
    expect(stderr).toContain("No token was made");
    expect(await readFile(join(folder, "token"), "utf8")).toBe("old\n");
  });

  test("make a token that Xen Orchestra accepts, and that Landfall renews", async () => {
    const user = {
      id: "5d0ec9d6-0c0c-4c0c-8c0c-000000000001",
      username: "landfall",
      password: "pw",
    };
    const cloud = await startXenOrchestraSimulator({ clock: systemClock, users: [user] });
    try {
      const env = { ...process.env, XOA_URL: cloud.url, XO_PASSWORD: "pw" };
      await run("sh", ["-c", findBlock("authentication_tokens")], { env, cwd: folder });
      expect((await stat(join(folder, "token"))).mode & 0o777).toBe(0o600);
      const token = (await readFile(join(folder, "token"), "utf8")).trim();
      const headers = { cookie: `authenticationToken=${token}` };
      const response = await fetch(`${cloud.url}/rest/v0/vms`, { headers });
      expect(response.status).toBe(200);
      const tokens = `${cloud.url}/rest/v0/users/${user.id}/authentication_tokens`;
      expect(await (await fetch(tokens, { headers })).json()).toContainEqual(
        expect.objectContaining({ id: token, client: { id: expect.stringMatching(OWN) } }),
      );
    } finally {
      await cloud.stop();
    }
  });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands as a shell into which a user pastes them: without `set -e`, so that they must stop themselves. */
async function runShell(
  script: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd?: string },
): Promise<Outcome> {
  const shell = Bun.spawn(["sh", "-c", script], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
    shell.exited,
  ]);
  return { code, stdout, stderr };
}

interface RecorderOptions {
  /** Part of the path that it answers with 403. */
  readonly refused?: string;
  /** @default {another one for each request} */
  readonly id?: string;
  /** What it answers to GET, by path. @default {nothing} */
  readonly lists?: Readonly<Record<string, readonly unknown[]>>;
  /** Spaces by which it indents lists. @default {0} */
  readonly indent?: number;
}

/** Answers as Xen Orchestra does, with IDs in order, and keeps what was asked. */
function startRecorder({ refused, id, lists = {}, indent = 0 }: RecorderOptions = {}): {
  readonly url: string;
  readonly requests: readonly { readonly line: string; readonly body: unknown }[];
  readonly cookies: readonly (string | null)[];
  [Symbol.dispose](): void;
} {
  const requests: { line: string; body: unknown }[] = [];
  const cookies: (string | null)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const text = await request.text();
      const { pathname } = new URL(request.url);
      const line = `${request.method} ${pathname}`;
      requests.push({ line, body: text === "" ? undefined : JSON.parse(text) });
      cookies.push(request.headers.get("cookie"));
      if (refused !== undefined && request.url.includes(refused)) {
        return Response.json({ error: "not enough privileges" }, { status: 403 });
      }
      if (request.method === "GET") {
        return new Response(JSON.stringify(lists[pathname] ?? [], null, indent));
      }
      if (request.method !== "POST") return new Response(null, { status: 204 });
      const body = JSON.stringify({ id: id ?? `id-${requests.length}` }, null, 2);
      return new Response(body, { status: 201, headers: { "content-type": "application/json" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    cookies,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

function lacksCurl(): boolean {
  if (Bun.which("curl") !== null) return false;
  saySkipped("commands of guides: there is no curl");
  return true;
}
