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
 * @param counts.unready Others that are not ready yet. @default {0}
 */
export function toHeading(
  noun: string,
  {
    total,
    troubled,
    unready = 0,
  }: { readonly total: number; readonly troubled: number; readonly unready?: number },
): string {
  if (total === 0) return `No ${noun}s yet`;
  const all = formatCount(total, noun);
  if (troubled > 0) {
    return `${troubled.toLocaleString("en")} of ${all} ${troubled === 1 ? "needs" : "need"} attention`;
  }
  if (unready > 0) {
    return `${unready.toLocaleString("en")} of ${all} ${unready === 1 ? "is" : "are"} not ready yet`;
  }
  return total === 1 ? `The only ${noun} is well` : `All ${all} are well`;
}
