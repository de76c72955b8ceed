/**
 * What a provider of Xen Orchestra says of a server that answers everything in one way.
 *
 * Also a process of its own, for an answer of which the runtime itself writes a line to standard error.
 * @module
 */
import { CloudError } from "../../lib/cloud/errors.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../providers/xenorchestra/fake_server.ts";
import { checkWords, TOKEN } from "./xenorchestra/stage.ts";

/** What a failure tells whoever waits for the cloud. */
type Failure = Pick<CloudError, "kind" | "message" | "retryAfterMs">;

/** Asks a server for an inventory, which fails. @param isEndless Whether only the deadline ends that */
export async function ask(url: string, isEndless = false): Promise<Failure> {
  const deps = toDeps();
  const provider = xenOrchestra.create(toSettings(url, { token: TOKEN }), deps);
  const { signal } = new AbortController();
  const asked = provider.listInventory([], signal).catch((error: unknown) => error);
  if (isEndless) {
    // Some of it comes, and then the deadline.
    await Promise.race([asked, Bun.sleep(150)]);
    await deps.clock.advance(31_000);
  }
  const error = await asked;
  if (error instanceof CloudError) return checkWords(error);
  throw error;
}

/** The same in a process of its own, with what that wrote to standard error. */
export async function askElsewhere(url: string): Promise<Failure & { readonly stderr: string }> {
  await using child = Bun.spawn([process.execPath, import.meta.path, url], { stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(stderr);
  return { ...JSON.parse(stdout), stderr };
}

if (import.meta.main) {
  const { kind, message, retryAfterMs } = await ask(process.argv[2] ?? "");
  console.log(JSON.stringify({ kind, message, retryAfterMs }));
  process.exit(0);
}
