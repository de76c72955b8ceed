/**
 * What Landfall reads of the Secrets of an OIDC provider, with a certificate that lasts a day.
 * @module
 */
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthFacts } from "../../../lib/controllers/sipcluster/services/auth/secrets.ts";
import { createAuthority, createCertificate } from "../net/certificates.ts";

/** A certificate and its key, and its authority, as PEM. */
interface ProviderPems {
  readonly crt: string;
  readonly key: string;
  readonly ca: string;
}

/** Makes a certificate. @param names `DNS:dex.example.com,IP:127.0.0.1` */
export async function createProviderPems(names: string): Promise<ProviderPems> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-dex-"));
  try {
    const authority = await createAuthority(folder, "oidc-ca");
    const extensions = [`subjectAltName=${names}`];
    const own = { folder, name: "dex", subject: "/CN=dex", extensions };
    const { certPath, keyPath } = await createCertificate(authority, own);
    const [crt, key, ca] = await Promise.all(
      [certPath, keyPath, authority.certPath].map((path) => readFile(path, "utf8")),
    );
    return { crt: crt ?? "", key: key ?? "", ca: ca ?? "" };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is read of the Secrets `config` and `tls`. @param ca The CA in `tls`, as PEM */
export function toAuthFacts(
  crt: string,
  { config, tls, ca }: { readonly config: string; readonly tls: string; readonly ca?: string },
): AuthFacts {
  const certificate = new X509Certificate(crt);
  const keys = ["tls.crt", "tls.key"];
  return {
    secrets: new Map([
      [config, { version: "u/1", keys: ["config.yaml"], isPair: false }],
      [tls, { version: "v/1", keys, certificate, isPair: true, ...(ca !== undefined && { ca }) }],
    ]),
    hasDexKinds: true,
    nowMs: certificate.validFromDate.getTime(),
    againMs: 1,
  };
}
