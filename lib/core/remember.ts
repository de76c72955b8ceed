/**
 * Maps that forget.
 * @module
 */

/** Sets the newest entry of a map that holds at most `sizeMax`; removes the oldest if needed. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > sizeMax && oldest !== undefined) map.delete(oldest);
}
