/**
 * One server that a cloud answers at: where it is, whom to trust there, and what people call it.
 * @module
 */

/** Where a server is, and whom to trust there. */
export interface Server {
  /** `http:` or `https:`, without a slash at the end. */
  readonly url: string;
  /** Whether any certificate will do; of no effect beside a fingerprint. */
  readonly insecure: boolean;
  /** File of the authorities that are trusted instead of those of the system. */
  readonly caFile?: string | undefined;
  /** SHA-256 of the one certificate that is trusted, as {@linkcode normalise} gives it. */
  readonly certificateFingerprint?: string | undefined;
}

/** What the server and the settings that lead to it are called, in messages for people. */
export interface ServerNames {
  /** The server itself, as at the beginning of a sentence. */
  readonly server: string;
  /** The process that answers there, of which somebody may read the log. */
  readonly process: string;
  /** The setting {@linkcode Server.url}. */
  readonly url: string;
  /** The setting {@linkcode Server.caFile}. */
  readonly caFile: string;
  /** The setting {@linkcode Server.certificateFingerprint}. */
  readonly certificateFingerprint: string;
}
