/**
 * What messages call the port by which clients manage machines, and the check of its certificate.
 * @module
 */
import type { ManagementPlace } from "../../controllers/definition.ts";
import { type CertifiedPort, readKeyPair } from "../../http/certificate/key_pair.ts";

/** The port for messages. */
export function toManagementPort({ flags }: Pick<ManagementPlace, "flags">): CertifiedPort {
  return {
    name: `the port of ${flags.address}`,
    certFlag: flags.certFile,
    keyFlag: flags.keyFile,
  };
}

/** Reads the files with the certificate, if there are any, as the listener does. @throws {ConfigError} */
export async function checkManagementFiles(place: ManagementPlace): Promise<void> {
  const { certFile, keyFile } = place;
  if (certFile === undefined || keyFile === undefined) return;
  await readKeyPair({ certFile, keyFile }, toManagementPort(place));
}
