/**
 * A copy of the work tree to break, so that the one that people work in is never touched.
 * @module
 */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../support/sources.ts";
import { applyEdit } from "./apply.ts";
import type { Edit } from "./break.ts";

/** How a command ended. */
export interface CommandResult {
  /** Zero when it succeeded; anything else, an end by time too, is a failure. */
  readonly code: number;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Longer than any catcher takes, and short enough for a break that makes it hang. */
const COMMAND_MS_MAX = 300_000;

/** What git knows or would add, as it stands in the work tree, in a temporary folder. */
export class WorkCopy implements AsyncDisposable {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Copies the work tree. Dependencies are linked, not copied. */
  static async create(): Promise<WorkCopy> {
    const root = await mkdtemp(join(tmpdir(), "landfall-breaks-"));
    const list = Bun.spawnSync(["git", "ls-files", "-z", "-co", "--exclude-standard"], {
      cwd: ROOT,
    });
    for (const file of list.stdout.toString().split("\0")) {
      if (file === "") continue;
      await mkdir(dirname(join(root, file)), { recursive: true });
      // A file that somebody just deleted is still known to git.
      await cp(join(ROOT, file), join(root, file)).catch(() => undefined);
    }
    await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
    return new WorkCopy(root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Applies edits, lets `work` go on, and takes them back. */
  async withEdits<T>(edits: readonly Edit[], work: () => Promise<T>): Promise<T> {
    const whole = new Map<string, string>();
    try {
      for (const one of edits) {
        const path = join(this.#root, one.file);
        const text = await readFile(path, "utf8");
        if (!whole.has(path)) whole.set(path, text);
        await writeFile(path, applyEdit(text, one));
      }
      return await work();
    } finally {
      for (const [path, text] of whole) await writeFile(path, text);
    }
  }

  /** Runs the runtime of this process with these arguments in the copy. */
  async run(args: readonly string[]): Promise<CommandResult> {
    const child = Bun.spawn([process.execPath, ...args], {
      cwd: this.#root,
      stdout: "pipe",
      stderr: "pipe",
      timeout: COMMAND_MS_MAX,
      killSignal: "SIGKILL",
    });
    const [out, error, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, output: out + error };
  }
}
