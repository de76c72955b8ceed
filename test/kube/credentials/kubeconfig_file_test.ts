/**
 * Merging kubeconfig files and finding the current context.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type KubeconfigContext, readKubeconfig } from "../../../lib/kube/credentials/mod.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";

const FULL = `
apiVersion: v1
kind: Config
current-context: prod
contexts:
- name: prod
  context: {cluster: one, user: admin, namespace: x}
- name: test
  context: {cluster: two, user: nobody}
clusters:
- name: one
  cluster: {server: https://one}
- name: two
  cluster: {server: https://two}
users:
- name: admin
  user: {token: secret-of-admin}
`;

function read(files: Record<string, string>): Promise<KubeconfigContext> {
  return readKubeconfig(Object.keys(files), new MemoryDisk(files).readFile);
}

describe("readKubeconfig()", () => {
  test("finds cluster and user of the current context", async () => {
    const { cluster, user } = await read({ "/a": FULL });
    expect(cluster.string("server")).toBe("https://one");
    expect(user.string("token")).toBe("secret-of-admin");
  });

  test("lets the first file win, entry by entry, and remembers where each stands", async () => {
    const first = "current-context: prod\nclusters: [{name: one, cluster: {server: https://mine}}]";
    const { cluster, user } = await read({ "/first": first, "/second": FULL });
    expect([cluster.string("server"), cluster.source]).toEqual(["https://mine", "/first"]);
    expect([user.string("token"), user.source]).toEqual(["secret-of-admin", "/second"]);
  });

  test("passes over a file that does not exist, if there are others", async () => {
    const files = ["/none", "/a"];
    const { cluster } = await readKubeconfig(files, new MemoryDisk({ "/a": FULL }).readFile);
    expect(cluster.string("server")).toBe("https://one");
  });

  test("does not pass over a file that may not be read", async () => {
    const denied = Object.assign(new Error("x"), { code: "EACCES" });
    const readFile = (path: string): Promise<string> =>
      path === "/a" ? Promise.resolve(FULL) : Promise.reject(denied);
    const reading = readKubeconfig(["/denied", "/a"], readFile);
    await expect(reading).rejects.toThrow(
      "/denied: cannot read the file: this process has no permission to read it",
    );
  });

  test("takes a context without a user", async () => {
    const text = FULL.replace("cluster: one, user: admin", "cluster: one");
    expect((await read({ "/a": text })).user.names()).toEqual([]);
  });

  const REFUSED: [string, string, string][] = [
    ["text that is no YAML", "a: [1", "/a:1: cannot be read as a kubeconfig: it is not YAML"],
    [
      "a line that is no YAML",
      FULL.replace("users:", "users: }"),
      "/a:15: cannot be read as a kubeconfig: it is not YAML",
    ],
    ["a tab", "a:\n  b: 1\n\tc: 2\nd: 3\n", "/a:3: cannot be read as a kubeconfig: it is not YAML"],
    [
      "a long text that is no YAML",
      "a: 1\n".repeat(10_000) + "}",
      "/a: cannot be read as a kubeconfig: it is not YAML",
    ],
    ["a list", "- a", "/a: must be a mapping"],
    ["no current context", "contexts: []", "/a: current-context: is missing"],
    [
      "an unknown context",
      FULL.replace("current-context: prod", "current-context: prud"),
      '/a: current-context: context "prud" does not exist (known: prod, test)',
    ],
    [
      "an unknown cluster",
      FULL.replace("cluster: one,", "cluster: three,"),
      '/a: contexts.prod.context.cluster: cluster "three" does not exist (known: one, two)',
    ],
    [
      "an unknown user",
      FULL.replace("current-context: prod", "current-context: test"),
      '/a: contexts.test.context.user: user "nobody" does not exist (known: admin)',
    ],
    [
      "a context without a cluster",
      FULL.replace("cluster: one, ", ""),
      "contexts.prod.context.cluster: is missing",
    ],
    [
      "a mapping where a list belongs",
      "current-context: a\ncontexts: {a: 1}",
      "/a: contexts: must be a list",
    ],
  ];
  test.each(REFUSED)("refuses %s, naming file and field", async (_title, text, message) => {
    const error = await read({ "/a": text }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ConfigError", issues: { length: 1 } });
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("secret-of-admin");
  });
});
