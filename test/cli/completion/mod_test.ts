import { expect, test } from "bun:test";
import { completion } from "../../../lib/cli/completion/mod.ts";
import { SHELLS } from "../../../lib/cli/completion/shells.ts";
import { COMMANDS } from "../../../lib/cli/commands.ts";

async function run(...argv: readonly string[]): Promise<string> {
  let out = "";
  const print = (text: string): unknown => (out += text);
  expect(await completion(argv, { env: {}, print, complain: print })).toBe(0);
  return out;
}

test.each(SHELLS)(
  "completion() prints a script for %s with every command and its flags",
  async (shell) => {
    const script = await run(shell);
    for (const { name, flags = [] } of COMMANDS) {
      expect(script).toContain(name);
      for (const flag of flags) expect(script).toContain(flag.name);
    }
    expect(script).toContain("leader-elect");
    expect(script).not.toContain("kube-api-qps");
  },
);

test("completion() wants the name of a shell", async () => {
  await expect(run()).rejects.toThrow(
    "the argument must be the name of a shell (bash, zsh, fish), but is empty",
  );
  await expect(run("tcsh")).rejects.toThrow('(bash, zsh, fish), but is "tcsh"');
  expect(await run("--help")).toContain("landfall completion bash|zsh|fish");
});
