/**
 * All points at which a story can be disturbed.
 * @module
 */
import type { Cut, Ending } from "./table.ts";

const LONG_MS = 900_000;

/** Lists them, from a telling without a disturbance. @param isForgetful Whether records are lost, too */
export function listCuts({ requests, changes, calls }: Ending, isForgetful: boolean): Cut[] {
  return [
    ...listOwn(requests, isForgetful),
    ...listNumbers(changes).flatMap((at) =>
      (["lost", "late", "hangs", "repeated"] as const).map(
        (when) => ({ who: "reply", at, when }) as const,
      ),
    ),
    ...calls.flatMap((method, index) => listOfCall(method, index + 1)),
    { who: "proxy" },
  ];
}

function listOfCall(method: string, at: number): Cut[] {
  const moments = ["before", "during", "after"] as const;
  return [
    ...moments.flatMap((when): Cut[] => [
      { who: "server", at, when },
      { who: "pool", at, when },
    ]),
    { who: "pool", at, when: "after", isBack: true },
    { who: "call", at },
    ...(ASYNCHRONOUS.has(method)
      ? ([
          { who: "server", at, when: "during", isSlow: true },
          { who: "pool", at, when: "during", forMs: LONG_MS },
          { who: "hypervisor", at },
        ] as const)
      : []),
  ];
}

/** Calls on which a hypervisor works for long. */
const ASYNCHRONOUS: ReadonlySet<string> = new Set([
  "VM.clone",
  "VM.provision",
  "VM.start",
  "VM.clean_shutdown",
  "VM.destroy",
]);

/** Before and after each change, and after the last question: questions change nothing. */
function listOwn(requests: Ending["requests"], isForgetful: boolean): Cut[] {
  return requests.flatMap(({ isChange }, index): Cut[] => {
    const at = index + 1;
    if (isChange) {
      return [
        { who: "landfall", at, when: "before" },
        { who: "landfall", at, when: "after" },
        ...(isForgetful ? [{ who: "landfall", at, when: "after", isForgetful } as const] : []),
      ];
    }
    return at === requests.length ? [{ who: "landfall", at, when: "after" }] : [];
  });
}

function listNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** A cut in words. */
export function describeCut(cut: Cut, { requests, calls }: Ending): string {
  if (cut.who === "proxy") return "a proxy repeats each change";
  if (cut.who === "landfall") {
    const memory = cut.isForgetful === true ? " and loses its records" : "";
    return `our process dies ${cut.when} ${requests[cut.at - 1]?.what} (request ${cut.at})${memory}`;
  }
  if (cut.who === "reply") return `the answer to change ${cut.at} is ${cut.when}`;
  const call = `${calls[cut.at - 1]} (call ${cut.at})`;
  if (cut.who === "call") return `${call} fails`;
  if (cut.who === "hypervisor") return `${call} takes long`;
  if (cut.who === "pool") {
    const until = cut.isBack === true ? " until a change" : "";
    const long = cut.forMs === undefined ? until : " for long";
    return `the pool is lost${long} ${cut.when} ${call}`;
  }
  return `xo-server dies ${cut.when} ${call}${cut.isSlow === true ? ", which is slow" : ""}`;
}
