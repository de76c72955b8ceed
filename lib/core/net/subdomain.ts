/**
 * Syntax of the names of most Kubernetes objects.
 * @module
 */

const LENGTH_MAX = 253;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Whether this is a DNS subdomain in lower case (RFC 1123), as names of Nodes, Leases and Events are. */
export function isSubdomain(text: string): boolean {
  return text.length <= LENGTH_MAX && SUBDOMAIN.test(text);
}
