/**
 * Advice for operators about the rights of a user of Xen Orchestra.
 * @module
 */

/** What to do if the user lacks a right that Landfall needs. No full stop. */
export const RIGHTS_ADVICE: string =
  "make the user an administrator, or (from Xen Orchestra 6.4 on) give it a role that may read " +
  "vm, host, pool, network, vif and server: the older ACLs do not count for the REST API";

/** What to do if Xen Orchestra shows no pool at all. */
export const NO_POOL_ADVICE: string = `check that a pool is connected (Settings, Servers), and ${RIGHTS_ADVICE}`;
