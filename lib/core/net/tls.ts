/**
 * Which TLS Landfall speaks, as a server and as a client.
 * @module
 */

/**
 * Suites of TLS 1.2 with forward secrecy and authenticated encryption, by OpenSSL's names. TLS 1.3 has no others.
 * The server and the client choose the first of the server's list that both have.
 */
export const TLS_CIPHERS: string = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");
