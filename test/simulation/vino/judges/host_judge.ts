/**
 * What must never happen to BareMetalHosts and Secrets, judged at each change.
 * @module
 */
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { isEqual, objectAt, stringAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import {
  consumerOf,
  hasBmc,
  isLeaving,
  isPaused,
} from "../../../../lib/simulator/metal3/host_state.ts";
import type { Trace } from "../../trace.ts";
import type { ApiServer, Change } from "../../world/api_server.ts";
import type { TransportRequest } from "../../../../lib/kube/api/request.ts";

const MACHINE_ID = "landfall.dev/machine-id";

/** Watches over hosts and Secrets. */
export class HostJudge {
  readonly violations: string[] = [];
  /** Changes of objects by processes, Leases and Events apart. */
  writes = 0;
  readonly #server: ApiServer;
  readonly #trace: Trace;
  /** UIDs of objects that processes made. */
  readonly #made = new Set<string>();

  constructor(server: ApiServer, trace: Trace) {
    this.#server = server;
    this.#trace = trace;
    server.follow<ApiObject>("baremetalhosts", (change) => this.#judgeHost(change));
    server.follow<ApiObject>("secrets", (change) => this.#judgeOwned("Secret", change));
    for (const plural of ["vinoes", "ippools"]) {
      server.follow<ApiObject>(plural, ({ author, after }) => {
        if (author !== undefined)
          this.#noteWrite(author, `writes ${plural} ${after?.metadata.name}`);
      });
    }
  }

  /** Told of each request as it is sent. Returns whether it would write, Leases and Events apart. */
  noteSent(asker: string, { method, path }: TransportRequest): boolean {
    if (method === "GET" || /\/(leases|events)(\/|\?|$)/.test(path)) return false;
    if (!this.#server.mayAct(asker)) this.#accuse(`${asker} writes without the Lease: ${path}`);
    return true;
  }

  #judgeHost(change: Change<ApiObject>): void {
    const { author, before, after } = change;
    this.#judgeOwned("BareMetalHost", change);
    if (author === undefined || before === undefined) return;
    const { name } = before.metadata;
    if (isPaused(before)) this.#accuse(`${author} changes ${name}, which is paused`);
    const isDeletion = after === undefined || (isLeaving(after) && !isLeaving(before));
    if (isDeletion && consumerOf(before) !== undefined) {
      this.#accuse(`${author} deletes ${name}, which is used`);
    }
    if (after === undefined) return;
    // What the first management controller of a host is to do is said with it.
    const isFirst = !hasBmc(before) && hasBmc(after);
    const kept = ["consumerRef", "image", ...(isFirst ? [] : ["online"])];
    for (const field of kept) {
      const [old, now] = [before, after].map((one) => objectAt(one, "spec")[field]);
      if (!isEqual(old ?? null, now ?? null)) this.#accuse(`${author} changes ${field} of ${name}`);
    }
    const [old, now] = [before, after].map((one) => stringAt(annotations(one), MACHINE_ID));
    if (old !== "" && old !== now) this.#accuse(`${author} gives ${name} another machine`);
  }

  #judgeOwned(kind: string, { author, before, after }: Change<ApiObject>): void {
    const object = after ?? before;
    if (author === undefined || object === undefined) return;
    const { name } = object.metadata;
    const verb = before === undefined ? "makes" : after === undefined ? "deletes" : "changes";
    this.#noteWrite(author, `${verb} ${kind} ${name}`);
    const uid = stringAt(object.metadata, "uid");
    if (before === undefined) this.#made.add(uid);
    else if (!this.#made.has(uid)) this.#accuse(`${author} ${verb} ${kind} ${name} of others`);
  }

  #noteWrite(author: string, what: string): void {
    this.writes += 1;
    this.#trace.note(author, what);
  }

  #accuse(what: string): void {
    this.violations.push(what);
    this.#trace.note("JUDGE", what);
  }
}

function annotations({ metadata }: ApiObject) {
  return objectAt(metadata, "annotations");
}
