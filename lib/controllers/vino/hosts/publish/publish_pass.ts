/**
 * What one call that publishes hosts did so far, and when to call again.
 * @module
 */
import type { HostPlan } from "../plan.ts";
import type { HostOutcome, WantedHost } from "../types.ts";
import type { WriteResult } from "./host_writer.ts";
import { CHECK_INTERVAL_MS, type SecretProblem } from "./secret_writer.ts";

/** Hosts that one call makes. More follow at the next call: a reconcile must end in time. */
const MADE_MAX = 100;
/** How soon to go on after that, and after another program was quicker. */
const SOON_MS = 1_000;
/** How soon to try again what was refused: a quota grows, a name becomes free. */
const REFUSED_MS = 60_000;

/** What one call of `publish` did so far. */
export class PublishPass {
  /** When to publish again although nothing changes. */
  againMs: number = CHECK_INTERVAL_MS;
  #begun = 0;

  /** Whether one more host may be made now. */
  mayMake(): boolean {
    this.#begun += 1;
    return this.#begun <= MADE_MAX;
  }

  /** How far a host is after a write. */
  toOutcome(plan: HostPlan, result: WriteResult | undefined): HostOutcome {
    const outcome = toOutcome(plan);
    switch (result?.kind) {
      case "overtaken":
        this.#again(SOON_MS);
        return outcome;
      case "held": {
        this.#again(result.pauseMs);
        const notice = `${plan.name}: another program changes its labels again and again`;
        return { ...outcome, notices: [...outcome.notices, notice] };
      }
      case "taken":
        this.#again(REFUSED_MS);
        return { ...outcome, state: "NameTaken", message: result.why };
      case "refused":
        this.#again(REFUSED_MS);
        return {
          ...outcome,
          state: "Refused",
          message: `BareMetalHost ${plan.name}: ${result.why}`,
        };
      default:
        if (plan.state === "NameTaken") this.#again(REFUSED_MS);
        return outcome;
    }
  }

  /** How far a host is whose Secret is not as wanted. */
  toProblem(plan: HostPlan, { state, message }: SecretProblem): HostOutcome {
    this.#again(state === "Publishing" ? SOON_MS : REFUSED_MS);
    return { ...toOutcome(plan), state, message };
  }

  /** Adds what is to say about the management controller, whose credentials a person may change at any time. */
  withBmc(
    outcome: HostOutcome,
    {
      bmcProblem,
      bmcNotice,
      bmcAgainMs,
    }: Pick<WantedHost, "bmcProblem" | "bmcNotice" | "bmcAgainMs">,
  ): HostOutcome {
    if (bmcAgainMs !== undefined) this.#again(bmcAgainMs);
    if (bmcProblem === undefined)
      return bmcNotice === undefined ? outcome : { ...outcome, bmcNotice };
    this.#again(REFUSED_MS);
    return { ...outcome, notices: [...outcome.notices, bmcProblem], bmcProblem };
  }

  #again(ms: number): void {
    this.againMs = Math.min(this.againMs, ms);
  }
}

/** How far a host is by its plan. */
export function toOutcome({ name, state, message, notices, differences }: HostPlan): HostOutcome {
  return {
    name,
    state,
    ...(message !== undefined && { message }),
    notices,
    ...(differences && { differences }),
  };
}
