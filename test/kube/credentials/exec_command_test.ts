/**
 * Finding the command of a plugin before it is run.
 * @module
 */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkExecCommand, type ExecSpec } from "../../../lib/kube/credentials/exec.ts";

const folder = mkdtempSync(join(tmpdir(), "landfall-exec-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "good"), "", { mode: 0o755 });
writeFileSync(join(folder, "plain"), "", { mode: 0o644 });
mkdirSync(join(folder, "sub"));

function check(spec: Partial<ExecSpec>, path: string | undefined): Promise<void> {
  const place = { source: "/config", path: "users.u.user.exec" };
  const base = { apiVersion: "v1", command: "good", args: [], env: {}, place };
  return checkExecCommand({ ...base, ...spec }, { PATH: path });
}

describe("checkExecCommand()", () => {
  const good: readonly [Partial<ExecSpec>, string | undefined][] = [
    [{ command: join(folder, "good") }, undefined],
    [{}, `/nowhere:${folder}`],
    [{ env: { PATH: folder } }, "/nowhere"],
    [{ command: "unknown" }, undefined],
  ];
  test.each(good)("checkExecCommand() accepts %j with PATH %j", async (spec, path) => {
    await expect(check(spec, path)).resolves.toBeUndefined();
  });

  const bad: readonly [Partial<ExecSpec>, string][] = [
    [{ command: "/no/such" }, 'command "/no/such" does not exist'],
    [{ command: join(folder, "sub") }, `command "${join(folder, "sub")}" does not exist`],
    [{ command: "plain" }, 'command "plain" is not executable'],
    [
      { command: "none", installHint: "npm i it\n" },
      'command "none" does not exist in any folder of PATH (npm i it)',
    ],
  ];
  test.each(bad)("checkExecCommand() refuses %j, naming the field", async (spec, message) => {
    await expect(check(spec, folder)).rejects.toMatchObject({
      name: "ConfigError",
      message: `/config: users.u.user.exec.command: ${message}`,
    });
  });
});
