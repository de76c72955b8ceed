/**
 * A Xen Orchestra in memory, and one process after another that makes machines in it.
 * @module
 */
import { silentLogger } from "../../../lib/core/log.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import {
  createMachineSite,
  type MachineSite,
  XenOrchestra,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toRoute } from "../../../lib/simulator/xenorchestra/requests.ts";
import { ManualClock, settle } from "../../support/manual_clock.ts";
import { MemoryServer } from "../../support/net/memory_server.ts";
import { untilEnded } from "../ended.ts";
import { Wire } from "../wire.ts";
import { Operator } from "./operator.ts";
import { Watcher } from "./watcher.ts";
import type { Wish } from "./wishes.ts";

/**
 * What goes wrong with one change of the cloud. `lost`: it is carried out, and there is no answer; `late`: so it is
 * when everything else has gone on; `hangs`: the answer never comes; `repeated`: a proxy sends it twice.
 */
export type Mishap = "lost" | "late" | "hangs" | "repeated";

/** How long a call of a hypervisor takes: longer than a moment, so that looks fall between them. */
const OPERATION_MS = 200;
/** How long xo-server is away, and then loads its pools. */
const DOWN_MS = 3_000;
const RESTART = { connectedAfterMs: 1_000, loadedAfterMs: 10_000 };
/** How late a request arrives that a proxy held back. */
const LATE_MS = 15_000;
/** How long a pool is away, and how late that is noticed. */
const LOST_MS = 2_000;
const LINGER_MS = 58_000;

interface Running {
  readonly wire: Wire;
  readonly operator: Operator;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/** The cloud, what is record in Kubernetes, and at most one process. */
export class Stage implements AsyncDisposable {
  readonly site: MachineSite = createMachineSite();
  readonly clock: ManualClock = new ManualClock(undefined, () => this.#rest());
  readonly cloud: XenOrchestra;
  readonly watcher: Watcher;
  wishes: readonly Wish[] = [];
  /** Changes of the cloud that were asked for since the last {@linkcode Stage.startCounting}. */
  changes = 0;
  /** Records of machines, by name. */
  readonly records: Map<string, string> = new Map();
  #isBackAtChange = false;
  /** Names whose creation a proxy holds back. */
  readonly #heldBack = new Set<string>();
  readonly #mishaps = new Map<number, Mishap>();
  readonly #ended = new AbortController();
  readonly #server: MemoryServer;
  readonly #endServing: () => void;
  #process: Running | undefined;

  constructor() {
    const { clock, site } = this;
    this.cloud = new XenOrchestra({
      clock,
      signal: this.#ended.signal,
      world: site.world,
      operationMs: OPERATION_MS,
    });
    this.watcher = new Watcher(this.cloud);
    this.#server = new MemoryServer((request, onWait) => this.#answer(request, onWait));
    this.#endServing = this.#server.serve();
  }

  /** The process that lives. */
  get operator(): Operator {
    if (this.#process === undefined) throw new Error("No process is there");
    return this.#process.operator;
  }

  /** Counts changes from now on. @param mishaps What happens to which of them; `all` to every POST */
  startCounting(mishaps: ReadonlyMap<number, Mishap> = new Map()): void {
    this.changes = 0;
    this.#mishaps.clear();
    for (const [at, mishap] of mishaps) this.#mishaps.set(at, mishap);
  }

  /** Starts a process that remembers nothing. */
  start(): Wire {
    const { clock } = this;
    const stop = new AbortController();
    const wire = new Wire(() => stop.abort(new Error("the process is killed")));
    const raw = { url: this.#server.origin, token: this.cloud.token };
    const { settings, issues } = xenOrchestra.parseConfig(raw, {});
    if (settings === undefined) throw new Error(JSON.stringify(issues));
    const provider = xenOrchestra.create(settings, {
      clock,
      metrics: new MetricsRegistry(),
      log: silentLogger,
      signal: stop.signal,
      fence: new Fence(),
    });
    const records = {
      read: (name: string) => this.records.get(name),
      save: (name: string, text: string | undefined, signal: AbortSignal) =>
        wire.send(
          { what: `save the record of ${name}`, isChange: true, isOfCloud: false },
          () => Promise.resolve(this.#save(name, text)),
          signal,
        ),
    };
    const operator = new Operator({ provider, clock, records, listWishes: () => this.wishes });
    const ended = operator.run(stop.signal).catch(() => undefined);
    this.#process = { wire, operator, stop, ended };
    return wire;
  }

  /** Ends the process, however it takes it. */
  async stop(): Promise<void> {
    if (this.#process === undefined) return;
    const { stop, ended } = this.#process;
    stop.abort(new Error("the test stops the process"));
    await untilEnded(ended, this.clock);
    this.#process = undefined;
  }

  /** Kills xo-server; it comes back by itself. */
  killServer(): void {
    if (!this.cloud.life.isUp) return;
    this.cloud.kill();
    this.#server.isRefusing = true;
    void this.#startServer();
  }

  async #startServer(): Promise<void> {
    await this.clock.sleep(DOWN_MS, this.#ended.signal);
    this.cloud.start(RESTART);
    this.#server.isRefusing = false;
  }

  /** Loses the pool; it comes back by itself. @param how How long it is away, and whether a change brings it back */
  losePool({ forMs = LOST_MS, isBack = false }: { forMs?: number; isBack?: boolean }): void {
    this.cloud.state.dropPool(this.site.poolIds.paris, forMs, LINGER_MS);
    this.#isBackAtChange = isBack;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#ended.abort();
    this.#endServing();
  }

  #save(name: string, text: string | undefined): void {
    if (text === undefined) this.records.delete(name);
    else this.records.set(name, text);
  }

  async #answer(request: Request, onWait: (isWaiting: boolean) => void): Promise<Outcome> {
    const process = this.#process;
    if (process === undefined) throw new Error("No process is there to ask");
    const what = toRoute(request.method, new URL(request.url).pathname);
    const isChange = request.method !== "GET";
    const counted = { what, isChange, isOfCloud: true };
    return await process.wire.send(counted, () => this.#serve(request, onWait), request.signal);
  }

  async #serve(request: Request, onWait: (isWaiting: boolean) => void): Promise<Outcome> {
    if (request.method === "GET") return await this.cloud.answer(request, onWait);
    if (this.#isBackAtChange) this.cloud.state.restorePool(this.site.poolIds.paris);
    this.#isBackAtChange = false;
    this.changes += 1;
    const mishap = this.#mishaps.get(this.changes);
    const { url, method, headers } = request;
    const body = await request.arrayBuffer();
    const toCopy = (): Request =>
      new Request(url, { method, headers, ...(body.byteLength > 0 && { body }) });
    this.#checkHeldBack(body);
    if (mishap === "late") {
      void this.#answerLate(toCopy(), body);
      return { kind: "reset" };
    }
    if (mishap === "repeated") await this.cloud.answer(toCopy(), onWait);
    const outcome = await this.cloud.answer(toCopy(), onWait);
    if (mishap === "lost") return { kind: "reset" };
    return mishap === "hangs" ? { kind: "hang" } : outcome;
  }

  async #answerLate(request: Request, body: ArrayBuffer): Promise<void> {
    const name = findName(body);
    if (name !== undefined) this.#heldBack.add(name);
    await this.clock.sleep(LATE_MS, this.#ended.signal).catch(() => undefined);
    if (this.#ended.signal.aborted) return;
    if (name !== undefined) this.#heldBack.delete(name);
    await this.cloud.answer(request);
  }

  /** Also a request that a proxy holds back is under way. */
  #checkHeldBack(body: ArrayBuffer): void {
    const name = findName(body) ?? "";
    if (this.#heldBack.has(name)) this.watcher.violations.push(`${name} is created twice at once`);
  }

  /** Until nothing is under way. */
  async #rest(): Promise<void> {
    await settle(2);
  }
}

/** The name that a creation asks for. */
function findName(body: ArrayBuffer): string | undefined {
  return /^\{"template":.*?"name_label":"([^"]+)"/.exec(new TextDecoder().decode(body))?.[1];
}
