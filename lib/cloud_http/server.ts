/**
 * A server of a cloud: its URL, the certificates to trust, and its names in messages.
 * @module
 */

/** The URL of a server, and the certificates to trust there. */
export interface Server {
  /** `http:` or `https:`, without a slash at the end. */
  readonly url: string;
  /** Whether Landfall accepts any certificate. Has no effect together with a fingerprint. */
  readonly insecure: boolean;
  /** File with the certificate authorities to trust instead of the system's. */
  readonly caFile?: string | undefined;
  /** SHA-256 of the only certificate to trust, as {@linkcode normalise} returns it. */
  readonly certificateFingerprint?: string | undefined;
}

/** Names of the server and its settings, for messages to operators. */
export interface ServerNames {
  /** The server itself, to begin a sentence. */
  readonly server: string;
  /** The process on the server; its log helps an operator. */
  readonly process: string;
  /** Name of the setting {@linkcode Server.url}. */
  readonly url: string;
  /** Name of the setting {@linkcode Server.caFile}. */
  readonly caFile: string;
  /** Name of the setting {@linkcode Server.certificateFingerprint}. */
  readonly certificateFingerprint: string;
}
