/**
 * Keys of SSH that ssh-keygen makes.
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pair of key files as text. */
export interface SshKeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** Makes a key pair. @param args `-t rsa -b 2048` as words */
export function createSshKeyPair(args: readonly string[], passphrase = ""): SshKeyPair {
  return inFolder((folder) => {
    const path = join(folder, "key");
    execFileSync("ssh-keygen", [
      "-q",
      ...args,
      "-N",
      passphrase,
      "-C",
      "someone@example",
      "-f",
      path,
    ]);
    return {
      privateKey: readFileSync(path, "utf8"),
      publicKey: readFileSync(`${path}.pub`, "utf8"),
    };
  });
}

/** Runs something with a folder of its own. */
export function inFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "ssh-keys-"));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
