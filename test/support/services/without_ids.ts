/**
 * Makes what two runs left behind comparable.
 * @module
 */

/** Replaces UUIDs, and the names of load balancers that are made of them: every run has other ones. */
export function withoutIds(value: object): object {
  const text = JSON.stringify(value)
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "UUID")
    .replaceAll(/\ba[\da-f]{31}\b/g, "NAME");
  const plain: object = JSON.parse(text);
  return plain;
}
