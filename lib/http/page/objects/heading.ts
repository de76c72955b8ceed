/**
 * The heading of a list of objects. Pure.
 * @module
 */
import { formatCount } from "../marks.tsx";

/**
 * How many objects need attention, in words.
 *
 * @param noun What they are: `SIPCluster`
 * @param counts.troubled Those that an operator should look at
 */
export function toHeading(
  noun: string,
  { total, troubled }: { readonly total: number; readonly troubled: number },
): string {
  if (total === 0) return `No ${noun}s yet`;
  const all = formatCount(total, noun);
  if (troubled > 0) {
    return `${troubled.toLocaleString("en")} of ${all} ${troubled === 1 ? "needs" : "need"} attention`;
  }
  return total === 1 ? `The only ${noun} is well` : `All ${all} are well`;
}
