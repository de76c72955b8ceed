/**
 * Command lines as the program gets them.
 * @module
 */
import { main } from "../../lib/cli/main.ts";
import { measureCpuMs } from "../support/net/hostile.ts";

/** Runs the program without an environment. @returns How it ended, all that it said, and how long it worked */
export async function runMain(
  argv: readonly string[],
): Promise<{ readonly code: number; readonly said: string; readonly ms: number }> {
  let said = "";
  const write = (text: string): void => {
    said += text;
  };
  let code = -1;
  const ms = await measureCpuMs(async () => {
    code = await main(argv, { env: {}, print: write, complain: write });
  });
  return { code, said, ms };
}
