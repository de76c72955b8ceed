/**
 * Parameters that are lists of pairs, as CloudStack reads them.
 * @module
 */

/**
 * Numbers pairs: `tags[0].key`, `tags[0].value`, `tags[1].key` … A pair with an empty value has none, because
 * CloudStack loses a pair with an empty one at the end.
 *
 * @param keyName What the server calls the first of a pair: `key` of tags, `name` of parameters
 */
export function toIndexed(
  list: string,
  keyName: string,
  pairs: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const params = [...pairs].flatMap(([key, value], at) => [
    [`${list}[${at}].${keyName}`, key],
    ...(value === "" ? [] : [[`${list}[${at}].value`, value]]),
  ]);
  return Object.fromEntries(params);
}
