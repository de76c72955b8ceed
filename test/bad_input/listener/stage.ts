/**
 * The listeners as a process makes them, on a clock that stands still, and a cluster that knows one token.
 * @module
 */
import { afterAll, beforeAll } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startListeners } from "../../../lib/app/serving/listeners.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import { createParts } from "../../../lib/app/parts.ts";
import { createLogger } from "../../../lib/core/log.ts";
import type { HttpServer } from "../../../lib/http/sockets/server.ts";
import { toBareApp } from "../../support/process/bare_app.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { askRaw, openRaw, type RawConnection, type RawPlace } from "../../support/net/raw_http.ts";
import { ScriptedKubeClient, type Write } from "../../support/kube/scripted_kube_client.ts";
import { tlsPath } from "../../support/net/tls_fixtures.ts";

/** The ways to reach Landfall. */
type ListenerKind = "debug port" | "debug socket" | "HTTPS port";
export const LISTENER_KINDS: readonly ListenerKind[] = ["debug port", "debug socket", "HTTPS port"];

/** The token of somebody who may read everything. */
export const GOOD_TOKEN = "eyJhbGciOiJSUzI1NiJ9.Zq-a-reader-of-everything";
/** Stands on every page that needs a token, and nowhere else. */
export const PROTECTED: RegExp = /kept-from-strangers|landfall_|\/configz|"nodes"|"coverage"/;
const OPEN = ["/healthz", "/readyz", "/livez"];
/** Longer than any connection may rest. */
const REST_MS = 61_000;

/** A listener for the tests of a block, before the first until after the last. @returns What gives it to a test */
export function useListener(kind: ListenerKind): () => ListenerStage {
  let started: ListenerStage | undefined;
  beforeAll(async () => {
    started = await ListenerStage.start(kind);
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return () => {
    if (started === undefined) throw new Error("Cannot test: nothing listens");
    return started;
  };
}

/** A listener that answers. */
export class ListenerStage implements AsyncDisposable {
  readonly kind: ListenerKind;
  readonly clock: ManualClock = new ManualClock();
  /** Of the log, as it is written. */
  readonly lines: string[] = [];
  /** Paths that the API server was asked about, in order. */
  readonly askedPaths: string[] = [];
  readonly #servers: HttpServer[] = [];
  #folder = "";
  /** Those that were there at the beginning: its own, and what test files before it left to be closed. */
  #sockets: ReadonlySet<string> = new Set();

  private constructor(kind: ListenerKind) {
    this.kind = kind;
  }

  /** @param alwaysAllowPaths Of the HTTPS port. @default {those of the flag} */
  static async start(
    kind: ListenerKind,
    alwaysAllowPaths: readonly string[] = OPEN,
  ): Promise<ListenerStage> {
    const stage = new ListenerStage(kind);
    stage.#folder = await mkdtemp(join(tmpdir(), "landfall-listener-"));
    const options = stage.#toOptions(alwaysAllowPaths);
    const signal = new AbortController().signal;
    stage.#servers.push(...(await startListeners(options, createParts(options), signal)));
    stage.#sockets = listSockets();
    return stage;
  }

  /** Where it is. */
  get place(): RawPlace {
    const address = this.#servers[0]?.address;
    if (address === undefined) throw new Error("Cannot test: nothing listens");
    if (address.kind === "unix") return { path: address.path };
    return { port: address.port, isTls: this.kind === "HTTPS port" };
  }

  /** Whether it asks who somebody is. */
  get asks(): boolean {
    return this.kind === "HTTPS port";
  }

  open(): Promise<RawConnection> {
    return openRaw(this.place);
  }

  /** Sends a text on a connection of its own; resolves with the first answer, or with none once it is closed. */
  ask(text: string): Promise<RawConnection> {
    return askRaw(this.place, text);
  }

  /** What was logged since the start: nobody who asks may write the log. */
  get logged(): readonly string[] {
    return this.lines.filter((line) => !line.includes("Listening"));
  }

  /** Asks a page as a well-behaved client does, with more lines of a head where wanted. */
  async get(path: string, head = ""): Promise<{ readonly status: number; readonly text: string }> {
    const connection = await this.open();
    connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n`);
    await connection.closed;
    return { status: connection.statuses[0] ?? 0, text: connection.received };
  }

  /**
   * Makes sure that what came before did no harm: a probe is answered at once, and after a minute of rest no connection
   * is left, and nothing that waits.
   */
  async expectWell(): Promise<void> {
    const { status } = await this.get("/livez");
    if (status !== 200) throw new Error(`a probe was answered with ${status}`);
    // The HTTPS port looks at its certificate from time to time.
    const atRest = this.asks ? 1 : 0;
    await this.clock.advance(REST_MS);
    for (let turn = 0; turn < 200; turn += 1) {
      if (this.clock.pending <= atRest && this.#listNewSockets().length === 0) return;
      await Bun.sleep(10);
      await this.clock.advance(REST_MS);
    }
    throw new Error(
      `${this.#listNewSockets().length} sockets and ${this.clock.pending} sleeps are left`,
    );
  }

  #listNewSockets(): string[] {
    return [...listSockets()].filter((socket) => !this.#sockets.has(socket));
  }

  #toOptions(alwaysAllowPaths: readonly string[]): AppOptions {
    const client = new ScriptedKubeClient(this.clock);
    client.onWrite = (write) => this.#review(write);
    const log = createLogger({
      format: "text",
      write: (line) => void this.lines.push(line),
      now: () => 0,
    });
    const certificate = { certFile: tlsPath("server.crt"), keyFile: tlsPath("server.key") };
    const address = { kind: "tcp", host: this.asks ? "0.0.0.0" : "127.0.0.1", port: 0 } as const;
    return toBareApp({
      client,
      clock: this.clock,
      log,
      host: "kept-from-strangers",
      configz: { v: "kept-from-strangers" },
      ...(this.kind === "debug port" && { debugAddress: address }),
      ...(this.kind === "debug socket" && {
        debugAddress: { kind: "unix", path: join(this.#folder, "debug.sock") },
      }),
      ...(this.kind === "HTTPS port" && { secure: { address, alwaysAllowPaths, ...certificate } }),
    });
  }

  #review({ body }: Write): object {
    const spec: unknown = body["spec"];
    if (typeof spec !== "object" || spec === null) throw new Error("Cannot review: no question");
    if ("token" in spec) {
      const isGood = spec.token === GOOD_TOKEN;
      return { status: isGood ? { authenticated: true, user: { username: "reader" } } : {} };
    }
    const { nonResourceAttributes: access } = { nonResourceAttributes: {}, ...spec };
    this.askedPaths.push("path" in access ? String(access.path) : "none");
    return { status: { allowed: true } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(0)));
    await rm(this.#folder, { recursive: true });
  }
}

/** Sockets of this process, at both ends of its connections: no two ever have the same inode while both are there. */
function listSockets(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const fd of readdirSync("/proc/self/fd")) {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      if (target.startsWith("socket:")) found.add(target);
    } catch {
      // The one that the folder was read with.
    }
  }
  return found;
}
