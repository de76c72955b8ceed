/**
 * One server of a cloud: its address, the certificates to trust, and its names in messages.
 * @module
 */

/** The address of a server, and the certificates to trust there. */
export interface Server {
  /** `http:` or `https:`, without a slash at the end. */
  readonly url: string;
  /** Whether any certificate is accepted; no effect together with a fingerprint. */
  readonly insecure: boolean;
  /** File of the authorities to trust instead of the system's. */
  readonly caFile?: string | undefined;
  /** SHA-256 of the only certificate to trust, as {@linkcode normalise} returns it. */
  readonly certificateFingerprint?: string | undefined;
}

/** Names of the server and of its settings, in messages for operators. */
export interface ServerNames {
  /** The server itself, as at the beginning of a sentence. */
  readonly server: string;
  /** The process on the server, whose log an operator may read. */
  readonly process: string;
  /** Name of the setting {@linkcode Server.url}. */
  readonly url: string;
  /** Name of the setting {@linkcode Server.caFile}. */
  readonly caFile: string;
  /** Name of the setting {@linkcode Server.certificateFingerprint}. */
  readonly certificateFingerprint: string;
}
