import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createOpensshKey,
  findPublicKey,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/host_keys.ts";
import { createSshKeyPair, inFolder } from "../../../../support/ssh/keys.ts";

/** What ssh-keygen says is the public part. It checks the private part first. */
function askSshKeygen(privateKey: string): string {
  return inFolder((folder) => {
    const path = join(folder, "key");
    writeFileSync(path, privateKey, { mode: 0o600 });
    return execFileSync("ssh-keygen", ["-y", "-f", path], { encoding: "utf8" }).trim();
  });
}

/** Signs a text and checks the signature, so that both parts must belong together. */
function signs(privateKey: string, publicKey: string): void {
  inFolder((folder) => {
    const path = join(folder, "key");
    writeFileSync(path, privateKey, { mode: 0o600 });
    writeFileSync(join(folder, "signers"), `me ${publicKey}\n`);
    execFileSync(
      "ssh-keygen",
      ["-q", "-Y", "sign", "-f", path, "-n", "test", join(folder, "signers")],
      {
        stdio: "ignore",
      },
    );
    const check = "-Y verify -f signers -I me -n test -s signers.sig".split(" ");
    execFileSync("ssh-keygen", check, { cwd: folder, input: `me ${publicKey}\n`, stdio: "pipe" });
  });
}

describe("createOpensshKey()", () => {
  // The comment decides how much is filled up at the end.
  for (const comment of ["", "a", "jumphost-a", "jumphost-ab-key", "0123456789abcdefghij"]) {
    test(`makes a key that ssh-keygen reads, with the comment "${comment}"`, () => {
      const key = createOpensshKey(comment);
      const publicKey = findPublicKey(key) ?? "";
      expect(askSshKeygen(key)).toBe(`${publicKey} ${comment}`.trim());
      expect(publicKey).toMatch(/^ssh-ed25519 AAAA\S+$/);
    });
  }

  test("makes a key that signs", () => {
    const key = createOpensshKey("a");
    signs(key, findPublicKey(key) ?? "");
  });

  test("makes another key each time", () => {
    expect(findPublicKey(createOpensshKey("a"))).not.toBe(findPublicKey(createOpensshKey("a")));
  });
});

describe("findPublicKey()", () => {
  test("reads what ssh-keygen made, also with line ends of Windows", () => {
    const { privateKey, publicKey } = createSshKeyPair(["-t", "ed25519"]);
    const wanted = publicKey.split(" ").slice(0, 2).join(" ");
    expect(findPublicKey(privateKey)).toBe(wanted);
    expect(findPublicKey(privateKey.replaceAll("\n", "\r\n"))).toBe(wanted);
  });

  const whole = createOpensshKey("a");
  const refused: Readonly<Record<string, () => string>> = {
    "an empty text": () => "",
    "a key with a passphrase": () => createSshKeyPair(["-t", "ed25519"], "secret").privateKey,
    "a key of another type": () => createSshKeyPair(["-t", "ecdsa"]).privateKey,
    "a key in another format": () =>
      createSshKeyPair("-t rsa -b 2048 -m PEM".split(" ")).privateKey,
    "a public key": () => createSshKeyPair(["-t", "ed25519"]).publicKey,
    "a key that ends early": () => whole.split("\n").toSpliced(2, 4).join("\n"),
    "a key without its end": () => whole.split("\n").slice(0, -2).join("\n"),
  };
  for (const [what, make] of Object.entries(refused)) {
    test(`finds none in ${what}`, () => {
      expect(findPublicKey(make())).toBeUndefined();
    });
  }
});
