/**
 * What must never happen to load balancers, judged after everything that happens, by the records of CloudStack.
 * @module
 */
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import type { LoadBalancerRule } from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { CloudStack } from "../../../../lib/simulator/cloudstack/cloudstack.ts";
import type { Timeline } from "../../timeline.ts";
import type { Book } from "./book.ts";
import type { Knowledge, Life } from "./knowledge.ts";
import { listClients } from "./router.ts";
import { KEPT, sharesWith, toClients, toPorts } from "./wishes.ts";

/** What a {@linkcode ServiceJudge} needs. */
interface ServiceJudgeOptions {
  readonly timeline: Timeline;
  readonly cloud: Pick<CloudStack, "state" | "jobs">;
  readonly book: Book;
  readonly knowledge: Knowledge;
}

/** A change that a process asked for. */
interface Write {
  readonly asker: string;
  /** When the request reached the server; monotonic milliseconds. */
  readonly atMs: number;
  /** When the server carried it out, or began its job; monotonic milliseconds. Absent: it has not yet. */
  carriedOutMs?: number;
}

/** A step is planned from what a process knew so long ago at most: it waits for slow networks. */
const STEP_MS = 30_000;
const SERVICE_TAG = "landfall.dev/service-uid";

/** Judges what processes do to a CloudStack. */
export class ServiceJudge {
  readonly #options: ServiceJudgeOptions;
  /** Who could use what when it was looked at last: `uid address port protocol client`. */
  #open = new Set<string>();
  /** Rules of Services on addresses of other namespaces when it was looked at last, by ID. */
  #guests: ReadonlySet<string> = new Set();
  /** Ports that people opened by hand: no process can have seen it in time. In the end they must be closed. */
  readonly #opened = new Set<number>();
  /** Changes that may still be carried out. */
  #writes: Write[] = [];
  /** When each process last asked for the addresses; monotonic milliseconds. */
  readonly #looks = new Map<string, number>();
  /** When whoever released an address had last looked at it, by ID. */
  readonly #released = new Map<string, number>();
  readonly #broken: string[] = [];

  constructor(options: ServiceJudgeOptions) {
    this.#options = options;
  }

  /** Takes in a request that reaches the server. Returns what tells that the server is done with it. */
  noteAsked(asker: string, command: string, parameters: URLSearchParams): () => void {
    const { timeline, cloud } = this.#options;
    const atMs = timeline.monotonic();
    if (command === "listPublicIpAddresses") this.#looks.set(asker, atMs);
    if (/^(list|query|get|find)/.test(command)) return () => undefined;
    const write: Write = { asker, atMs };
    this.#writes.push(write);
    if (command === "disassociateIpAddress") {
      const id = parameters.get("id") ?? "";
      this.#released.set(id, this.#looks.get(asker) ?? Infinity);
      if (cloud.state.tags.has(id, KEPT))
        this.#broken.push(`${asker} releases the kept address ${id}`);
    }
    return () => {
      write.carriedOutMs = timeline.monotonic();
    };
  }

  /** Takes the openings that people made for given. @param port One that they open as soon as it has a backend */
  accept(port?: number): void {
    if (port !== undefined) this.#opened.add(port);
    this.#open = new Set(this.#listOpen().map(({ key }) => key));
  }

  /** Says what was broken since the last time. */
  listBroken(): string[] {
    const { book } = this.#options;
    const broken = [
      ...this.#broken.splice(0),
      ...book.takeChanges((sinceMs, text) => this.#isExcused(sinceMs, text)),
      ...this.#listWider(),
      ...this.#listDoubles(),
      ...this.#listIntruders(),
    ];
    this.#forgetWrites();
    return broken;
  }

  /** What people put on an address after it was looked at for the last time goes with the address. */
  #isExcused(sinceMs: number, text: string): boolean {
    const { ipId } = JSON.parse(text) as { ipId?: string };
    return ipId !== undefined && sinceMs >= (this.#released.get(ipId) ?? Infinity);
  }

  #listWider(): string[] {
    const open = this.#listOpen();
    const before = this.#open;
    this.#open = new Set(open.map(({ key }) => key));
    return open
      .filter(
        ({ key, life, port, client }) => !before.has(key) && !this.#mayUse(life, port, client),
      )
      .map(({ key }) => `a Service is open wider than it asks: ${key}`);
  }

  #listOpen(): {
    readonly key: string;
    readonly life: Life;
    readonly port: string;
    readonly client: string;
  }[] {
    const { cloud, knowledge } = this.#options;
    const { state } = cloud;
    return knowledge.lives.flatMap((life) =>
      listRules(state.loadBalancerRules.values(), life).flatMap((rule) => {
        const port = `${rule.publicPort}/${rule.applied?.protocol === "udp" ? "udp" : "tcp"}`;
        const ip = state.publicIps.get(rule.ipId)?.address;
        return listClients(state, rule).map((client) => ({
          key: `${life.name} ${life.uid} ${ip} ${port} ${client}`,
          life,
          port,
          client,
        }));
      }),
    );
  }

  /** Whether a Service asks, or asked when a process looked that may have done this, that a client may use a port. */
  #mayUse(life: Life, port: string, client: string): boolean {
    if (this.#opened.has(Number.parseInt(port, 10))) return true;
    return this.#listRecent(life).some(
      (service) =>
        toClients(service).includes(client) &&
        toPorts(service).some((one) => `${one.port}/${one.packets}` === port),
    );
  }

  /** The versions of a Service that a process may have acted on. */
  #listRecent({ uid, versions }: Life): readonly Service[] {
    const { knowledge } = this.#options;
    const oldest = this.#writes.map(({ asker, atMs }) =>
      knowledge.findKnown(asker, uid, atMs - STEP_MS),
    );
    return versions.slice(Math.min(versions.length - 1, ...oldest));
  }

  /** A Service gets no rule on the address of one of another namespace without its word. */
  #listIntruders(): string[] {
    const { cloud, knowledge } = this.#options;
    const { state } = cloud;
    const guests = knowledge.lives.flatMap((life) =>
      listRules(state.loadBalancerRules.values(), life).flatMap(({ id, ipId }) => {
        const host = knowledge.find(readOwner(state, ipId) ?? "");
        return host === undefined || host.namespace === life.namespace ? [] : [{ id, life, host }];
      }),
    );
    const before = this.#guests;
    this.#guests = new Set(guests.map(({ id }) => id));
    return guests
      .filter(
        ({ id, life, host }) =>
          !before.has(id) &&
          !this.#listRecent(host).some((service) => sharesWith(service, life.namespace)),
      )
      .map(({ life, host }) => {
        const whose = `${host.namespace}/${host.name}`;
        return `Service ${life.namespace}/${life.name} has a rule on the address of ${whose}`;
      });
  }

  #listDoubles(): string[] {
    const { cloud, knowledge } = this.#options;
    const { state } = cloud;
    return knowledge.lives.flatMap((life) => {
      if (life.mayMove) return [];
      const serving = listRules(state.loadBalancerRules.values(), life).filter(
        ({ applied }) => (applied?.backends.length ?? 0) > 0,
      );
      const ips = new Set(serving.map(({ ipId }) => ipId));
      return ips.size > 1 ? [`Service ${life.name} ${life.uid} has traffic on two addresses`] : [];
    });
  }

  /**
   * Forgets changes that are over. A server that is busy carries a request out long after it came, whether or not its
   * client still waits.
   */
  #forgetWrites(): void {
    const { cloud, timeline } = this.#options;
    const running = [...cloud.jobs.all.values()].filter(({ status }) => status === 0);
    const oldestMs = Math.min(...running.map(({ createdMs }) => createdMs));
    // A job is dated in whole milliseconds, so it may have begun up to one later than it says.
    const nowMs = Math.floor(timeline.monotonic());
    const keptMs = Math.min(oldestMs - timeline.now() + nowMs, nowMs);
    this.#writes = this.#writes.filter(({ carriedOutMs = Infinity }) => carriedOutMs >= keptMs);
  }
}

/** The rules of a Service, by their names. */
export function listRules(rules: Iterable<LoadBalancerRule>, { lbName }: Life): LoadBalancerRule[] {
  return [...rules].filter(({ name }) => name.startsWith(`${lbName}-`));
}

/** The UID of the Service whose tag an address has. */
export function readOwner({ tags }: CloudStack["state"], ipId: string): string | undefined {
  return tags.of(ipId).find(({ key }) => key === SERVICE_TAG)?.value;
}
