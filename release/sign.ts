/**
 * Signs a release with an SSH key.
 * @module
 */
import { join } from "node:path";

/** Says what a signature is for, so that it counts for nothing else. */
const PURPOSE = "landfall-release";

/**
 * Signs SHA256SUMS in a folder, which covers all files, as SHA256SUMS.sig. If the key has a passphrase, ssh-keygen asks
 * for it.
 *
 * @param key A file with a private key, or a public one whose private key an agent has
 * @throws Error if ssh-keygen refuses
 */
export function signSums(folder: string, key: string): void {
  const args = ["-Y", "sign", "-f", key, "-n", PURPOSE, join(folder, "SHA256SUMS")];
  const { exitCode } = Bun.spawnSync(["ssh-keygen", ...args], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  if (exitCode !== 0) throw new Error(`Cannot sign SHA256SUMS with ${key}: see the lines above`);
}
