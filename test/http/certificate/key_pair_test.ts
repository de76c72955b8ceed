import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../lib/core/errors.ts";
import { createLogger } from "../../../lib/core/log.ts";
import {
  type KeyPairFiles,
  readKeyPair,
  watchKeyPair,
} from "../../../lib/http/certificate/key_pair.ts";
import { makeSelfSigned } from "../../../lib/http/certificate/self_signed.ts";
import type { KeyPair } from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { readTls, tlsPath } from "../../support/net/tls_fixtures.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-key-pair-"));
});
afterAll(() => rm(folder, { recursive: true }));

const GOOD: KeyPairFiles = { certFile: tlsPath("server.crt"), keyFile: tlsPath("server.key") };

async function findProblems(files: KeyPairFiles): Promise<string[]> {
  try {
    await readKeyPair(files);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

function make(): KeyPair {
  return makeSelfSigned(["localhost"], Date.UTC(2026, 0, 1));
}

const PATHS = {
  encrypted: tlsPath("client_encrypted.key"),
  other: tlsPath("client.key"),
} as const;

describe("readKeyPair()", () => {
  test("readKeyPair() gives what is in the files", async () => {
    const { cert, key } = await readKeyPair(GOOD);
    expect([cert, key].map((pem) => pem.split("\n")[0])).toEqual([
      "-----BEGIN CERTIFICATE-----",
      "-----BEGIN PRIVATE KEY-----",
    ]);
  });

  test("readKeyPair() refuses a certificate whose companions are broken", async () => {
    const { cert } = await readKeyPair(GOOD);
    const certFile = join(folder, "chain.crt");
    await writeFile(certFile, `${cert}${cert.slice(0, 300)}`);
    expect(await findProblems({ ...GOOD, certFile })).toEqual([
      `--tls-cert-file: ${certFile}: a certificate after the first one is broken`,
    ]);
    await writeFile(certFile, `${cert}${readTls("ca.crt")}`);
    expect(await findProblems({ ...GOOD, certFile })).toEqual([]);
  });

  test.each<[title: string, files: Partial<KeyPairFiles>, problems: readonly string[]]>([
    [
      "files that are not there",
      { certFile: "/no/a.crt", keyFile: "/no/a.key" },
      [
        "--tls-cert-file: /no/a.crt: there is no such file",
        "--tls-private-key-file: /no/a.key: there is no such file",
      ],
    ],
    [
      "a key in place of the certificate",
      { certFile: GOOD.keyFile },
      [`--tls-cert-file: ${GOOD.keyFile}: must be a certificate in PEM`],
    ],
    [
      "a certificate in place of the key",
      { keyFile: GOOD.certFile },
      [
        `--tls-private-key-file: ${GOOD.certFile}: must be a private key in PEM, without a password`,
      ],
    ],
    [
      "a key with a password",
      { keyFile: PATHS.encrypted },
      [
        `--tls-private-key-file: ${PATHS.encrypted}: must be a private key in PEM, without a password`,
      ],
    ],
    [
      "the key of another certificate",
      { keyFile: PATHS.other },
      [
        `--tls-private-key-file: ${PATHS.other}: ` +
          `the key does not belong to the certificate in ${GOOD.certFile}`,
      ],
    ],
  ])("readKeyPair() refuses %s", async (_title, files, problems) => {
    expect(await findProblems({ ...GOOD, ...files })).toEqual([...problems]);
  });
});

function toFiles({ cert, key }: KeyPair): Record<string, string> {
  return { "tls.crt": cert, "tls.key": key };
}

/** Waits for real files to be read after the clock moved. */
async function look(clock: ManualClock): Promise<void> {
  await clock.advance(10_000);
  while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
}

describe("watchKeyPair()", () => {
  test("watchKeyPair() uses a new pair within ten seconds, and keeps the old while the new is broken", async () => {
    const [first, second, third] = [make(), make(), make()];
    using mount = new SecretMount(toFiles(first));
    const files = { certFile: mount.path("tls.crt"), keyFile: mount.path("tls.key") };
    const clock = new ManualClock();
    const stop = new AbortController();
    const used: KeyPair[] = [];
    const lines: string[] = [];
    const log = createLogger({ format: "text", write: (line) => lines.push(line), now: () => 0 });
    const current = await readKeyPair(files);
    const watching = watchKeyPair(
      { ...files, current, clock, log, use: (pair) => used.push(pair) },
      stop.signal,
    );
    await look(clock);
    expect(used).toEqual([]);
    mount.update(toFiles(second));
    await look(clock);
    expect(used).toEqual([second]);
    mount.update(toFiles({ cert: third.cert, key: second.key }));
    await look(clock);
    await look(clock);
    expect(used).toEqual([second]);
    expect(lines.filter((line) => line.includes("still using the old one"))).toHaveLength(1);
    expect(lines.join("")).toContain("does not belong to the certificate");
    mount.update(toFiles(second));
    await look(clock);
    expect(used).toEqual([second]);
    mount.update(toFiles({ cert: third.cert, key: second.key }));
    await look(clock);
    expect(lines.filter((line) => line.includes("still using the old one"))).toHaveLength(2);
    mount.update(toFiles(third));
    await look(clock);
    expect(used).toEqual([second, third]);
    await rm(files.keyFile);
    await look(clock);
    await look(clock);
    expect(used).toEqual([second, third]);
    expect(lines.filter((line) => line.includes("there is no such file"))).toHaveLength(1);
    expect(lines.join("")).not.toContain("PRIVATE");
    stop.abort();
    await watching;
    expect(clock.pending).toBe(0);
  });
});
