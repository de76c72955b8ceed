/**
 * The files that guides tell a reader to make in a clone: git and an image build must not take them, because many hold
 * a token or a key.
 * @module
 */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { listCode } from "../support/markdown_links.ts";
import { readSource, ROOT } from "../support/sources.ts";

/** What writes a file or reads one that the reader made, without a folder in its name. */
const NAMED: readonly RegExp[] = [
  /(?:>|\btee) *([\w.-]+)/g,
  /(?<= )(?:-keyout|-out|--output|--bundle) ([\w.-]+)/g,
  /--from-file=(?:[\w.-]+=)?([\w.-]+)/g,
  /--(?:key|cert|kubeconfig|cloud-config)[= ]([\w.-]+\.[\w.-]+)/g,
  /\bdocker-archive:([\w.-]+)/g,
  /^install -m 06[04]0 .*?(?<= )([\w.-]+) (?:[\w.-]+ )?\//g,
];
/** Names in these texts are no files: descriptors, and words after a comparison. */
const NO_FILE = /^(?:[\d.]+|-.*|_)$/;

const pages = [
  "README.md",
  "release/README.md",
  ...(await readdir(join(ROOT, "docs"), { recursive: true }))
    .filter((name) => name.endsWith(".md") && !name.startsWith("reference/"))
    .map((name) => `docs/${name}`),
];
const named = new Map<string, string>([
  ["api-key", "docs/guides/permissions-cloudstack.md"],
  ["secret-key", "docs/guides/permissions-cloudstack.md"],
]);
for (const page of pages) {
  for (const line of listCode(await readSource(page))) {
    for (const pattern of NAMED) {
      for (const [, name = ""] of line.trim().matchAll(pattern)) {
        if (NO_FILE.test(name)) continue;
        named.set(page.startsWith("release/") ? `dist/release/${name}` : name, page);
      }
    }
  }
}

test("git ignores each file that a guide tells a reader to make in a clone", () => {
  expect([...named.keys()]).toEqual(
    expect.arrayContaining([
      "api-key",
      "cloud-config",
      "id_ed25519",
      "landfall-vino.yaml",
      "landfall.yaml",
      "secret-key",
      "tls.key",
      "token",
    ]),
  );
  const { stdout } = Bun.spawnSync(["git", "check-ignore", "--no-index", "--stdin"], {
    cwd: ROOT,
    stdin: Buffer.from([...named.keys()].join("\n")),
  });
  const ignored = new Set(stdout.toString().split("\n"));
  const kept = [...named].filter(([name]) => !ignored.has(name));
  expect(kept.map(([name, page]) => `${name} (${page})`)).toEqual([]);
});

test("an image build gets none of them, nor any other file that the list does not name", async () => {
  const lines = (await readSource(".containerignore")).split("\n");
  const [first, ...others] = lines.filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  const passed = others.map((line) => /^!([\w./*-]+)$/.exec(line)?.[1] ?? `unknown: ${line}`);
  expect(passed.filter((one) => named.has(one))).toEqual([]);
  // Folders let everything in them through: none is one in which a guide makes a file.
  expect(passed.filter((one) => /[*]/.test(one))).toEqual(["dist/release/landfall-*-linux-*"]);
});
