/**
 * Reports to operators what happens to load balancers: Events on Services, and records in the log.
 * @module
 */
import type {
  LoadBalancerIngress,
  LoadBalancerProblem,
} from "../../cloud/capabilities/load_balancers.ts";
import { RefusedStepError } from "../../cloud/capabilities/refused_errors.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { shorten } from "../../core/text/printable.ts";
import { WarningThrottle } from "../../engine/throttle.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import { type EventRecorder } from "../../kube/events/events.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import type { Service } from "../../kube/kinds/service.ts";
import { toClaim } from "./spec.ts";
import { EVENT_WORDS } from "./words.ts";

/** What an attempt is for. `update`: only the Nodes changed. `purge`: the Service is gone. */
export type Purpose = "ensure" | "update" | "release" | "purge";

/** The API server refuses longer messages. */
const MESSAGE_CHARS_MAX = 1_000;
const SHOWN_CHARS_MAX = 100;
const NODES_SHOWN_MAX = 20;

/** What a {@linkcode ServiceEvents} needs. */
interface ServiceEventsOptions {
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Writes Events with the reasons and texts of the Go controller. */
export class ServiceEvents {
  readonly #events: EventRecorder;
  readonly #log: Logger;
  readonly #throttle: WarningThrottle;
  /** What is said once, as of the last plan of each Service. */
  readonly #told = new Map<Key, ReadonlySet<string>>();

  constructor({ events, log, clock }: ServiceEventsOptions) {
    this.#events = events;
    this.#log = log;
    this.#throttle = new WarningThrottle(clock);
  }

  /** Reports that the first change of an attempt is about to be made. */
  reportStart(service: Service, purpose: Purpose): void {
    if (purpose === "ensure") this.#record(service, EVENT_WORDS.ensuring, "Ensuring load balancer");
    if (purpose === "release" || purpose === "purge") {
      this.#record(service, EVENT_WORDS.deleting, "Deleting load balancer");
    }
  }

  /** Reports that everything of an attempt is done. @param excluded Which Nodes are no backends by their labels */
  reportEnd(service: Service, purpose: Purpose, excluded?: string): void {
    const more = excluded === undefined ? "" : `; ${excluded}`;
    if (purpose === "ensure") {
      this.#record(service, EVENT_WORDS.ensured, `Ensured load balancer${more}`);
    } else if (purpose === "update") {
      this.#record(service, EVENT_WORDS.updated, `Updated load balancer with new hosts${more}`);
    } else this.#record(service, EVENT_WORDS.deleted, "Deleted load balancer");
  }

  /** Reports that an attempt failed, for a refused step by its problem; the same at most once in five minutes. */
  reportFailure(
    service: Service,
    { purpose, error, hosts }: { purpose: Purpose; error: unknown; hosts: readonly string[] },
  ): void {
    if (error instanceof RefusedStepError) return this.reportProblem(service, error.problem);
    const why = describeError(error);
    switch (purpose) {
      case "update":
        return this.#recordOnce(
          service,
          EVENT_WORDS.updateFailed,
          `Error updating load balancer with new hosts ${formatHosts(hosts)}, error: ${why}`,
        );
      case "purge":
        return this.#recordOnce(
          service,
          EVENT_WORDS.deleteFailed,
          `Error deleting load balancer: ${why}`,
        );
      case "ensure":
      case "release": {
        const what = `failed to ${purpose === "ensure" ? "ensure" : "delete"} load balancer`;
        const message = `Error syncing load balancer: ${what}: ${why}`;
        return this.#recordOnce(service, EVENT_WORDS.syncFailed, message);
      }
    }
  }

  /** Reports that a field of a Service cannot be used. */
  reportUnreadable(service: Service, problem: string): void {
    this.#recordOnce(service, EVENT_WORDS.syncFailed, `Error syncing load balancer: ${problem}`);
  }

  /** Reports one problem, at most once in five minutes. */
  reportProblem(
    service: Service,
    { reason, message }: Pick<LoadBalancerProblem, "message" | "reason">,
  ): void {
    this.#recordOnce(service, { reason, type: "Warning", meaning: "" }, message);
  }

  /** Reports what a plan says about a load balancer. What is said once waits until a plan has lacked it. */
  reportProblems(service: Service, problems: readonly LoadBalancerProblem[]): void {
    const key = toKey(service);
    const told = this.#told.get(key);
    const once = problems.flatMap(({ isOnce, message }) => (isOnce ? message : []));
    if (once.length > 0) this.#told.set(key, new Set(once));
    else this.#told.delete(key);
    for (const one of problems) {
      if (one.isOnce !== true || told?.has(one.message) !== true) this.reportProblem(service, one);
    }
  }

  /** Reports that another program has the status of a Service. @returns The message */
  reportOverwritten(service: Service, wanted: readonly LoadBalancerIngress[]): string {
    const toNames = (list: readonly LoadBalancerIngress[]): string =>
      list.map((one) => ("ip" in one ? one.ip : one.hostname)).join(", ");
    const shown = shorten(toNames(toClaim(service).ingress), SHOWN_CHARS_MAX);
    const what = `another program writes ${shown} into the status, where Landfall writes ${toNames(wanted)}`;
    const end =
      "Landfall writes no more until that program empties the status or the Service changes";
    const message = `${what}; ${end}: let only one program serve it, for example by loadBalancerClass`;
    this.#recordOnce(service, EVENT_WORDS.overwritten, message);
    return message;
  }

  /** Reports that a Service has a load balancer, and a class that Landfall does not serve. */
  reportClass(service: Service): void {
    const { loadBalancerClass } = service.spec ?? {};
    const [what, flag] = loadBalancerClass
      ? [`the class ${loadBalancerClass}`, `--load-balancer-class=${loadBalancerClass}`]
      : ["Services without a class", "--serve-services-without-class=true"];
    const message = `Landfall made a load balancer and does not serve ${what}; it changes nothing`;
    const advice = `set ${flag}, or delete the Service`;
    this.#recordOnce(service, EVENT_WORDS.classChanged, `${message}: ${advice}`);
  }

  /** Lets the next problem of a Service be reported at once: all is well, or it is gone. */
  forget(service: Service): void {
    this.#throttle.forget(toKey(service));
    this.#told.delete(toKey(service));
  }

  #record(service: Service, word: EventWord, message: string): void {
    this.#events.record(service, toEvent(word, message));
    this.#log.info(message, { service: toKey(service) });
  }

  #recordOnce(service: Service, word: EventWord, message: string): void {
    const short = shorten(message, MESSAGE_CHARS_MAX);
    // Several messages of one reason must not take turns in passing.
    const once = toEvent({ ...word, reason: `${word.reason} ${short}` }, "");
    if (!this.#throttle.passes(toKey(service), once)) return;
    this.#events.record(service, toEvent(word, short));
    this.#log.warn(short, { service: toKey(service), reason: word.reason });
  }
}

/** The names in order, in the form of the Go controller. */
function formatHosts(hosts: readonly string[]): string {
  if (hosts.length <= NODES_SHOWN_MAX) return `[${hosts.join(" ")}]`;
  const shown = hosts.slice(0, NODES_SHOWN_MAX).join(" ");
  const more = hosts.length - NODES_SHOWN_MAX;
  const total = `[node names limited, total number of nodes: ${hosts.length}]`;
  return `[${shown} <${more} more>] ${total}`;
}
