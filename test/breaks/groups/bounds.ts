/**
 * Breaks of what bounds memory, time, connections and files.
 * @module
 */
import { type Break, edit } from "../break.ts";

const BODY = "lib/core/net/body.ts";
const LIMITER = "lib/core/limiter.ts";
const CONNECTIONS = "lib/http/sockets/connections.ts";
const LISTENING = "lib/http/sockets/listening.ts";

export const BOUND_BREAKS: readonly Break[] = [
  {
    id: "listen-at-one-family",
    invariant: "the addresses 0.0.0.0 and :: mean every address of both families",
    edits: edit(LISTENING, '["::", "0.0.0.0"] as const', '["0.0.0.0", "::"] as const'),
    tests: ["test/http/sockets/listening_test.ts"],
  },
  {
    id: "insist-on-ipv6",
    invariant: "a machine without IPv6 listens at its addresses of IPv4",
    edits: edit(
      LISTENING,
      "listen(server, { host, port }); } catch (error) { if (!ABSENT.has(findErrorCode(error))) {",
      "listen(server, { host, port }); } catch (error) { if (host !== address.host) {",
      "planListening(address.host)",
    ),
    tests: ["test/http/sockets/listening_test.ts"],
  },
  {
    id: "count-one-place-twice",
    invariant: "a peer counts once, in any form of its IPv4 address",
    edits: edit(
      CONNECTIONS,
      "const place = parseIp(origin)?.text ?? origin;",
      "const place = origin;",
    ),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "read-without-end",
    invariant: "a body is read up to a bound",
    edits: edit(
      BODY,
      "if (leftMax >= 0) continue; if (isCut) return;",
      "if (leftMax >= 0 || !isCut) continue; if (isCut) return;",
    ),
    tests: ["test/core/net/body_test.ts"],
  },
  {
    id: "keep-unread-body",
    invariant: "a body that is not read to its end is cancelled, which frees its buffers",
    edits: edit(BODY, "reader.cancel().catch(() => {});", "reader.releaseLock();"),
    tests: ["test/core/net/body_test.ts"],
  },
  {
    id: "grow-an-event",
    invariant: "an event of Xen Orchestra has a bound",
    edits: edit(
      "lib/cloud_http/sse.ts",
      "if (this.#kept + this.#pending <= CHARS_MAX) return;",
      "if (this.#kept + this.#pending <= Infinity) return;",
    ),
    tests: ["test/cloud_http/sse_test.ts"],
  },
  {
    id: "remember-all-events",
    invariant: "the memory for Events has a bound",
    edits: edit(
      "lib/kube/events/correlator.ts",
      "this.#entries.size > CACHE_SIZE_MAX",
      "this.#entries.size > Infinity",
    ),
    tests: ["test/kube/events/correlator_test.ts"],
  },
  {
    id: "nest-without-end",
    invariant: "a file that is nested deeply is refused before it takes a long time",
    edits: edit(
      "lib/config/yaml_places.ts",
      "if (parser.stack.length > PARSER_DEPTH_MAX) return true;",
      "",
    ),
    tests: ["test/config/yaml_places_test.ts"],
  },
  {
    id: "obey-any-retry-after",
    invariant: "no answer can delay the client's next request for longer than five minutes",
    edits: edit(
      "lib/kube/api/status.ts",
      "Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX)",
      "Math.max(0, ms)",
    ),
    tests: ["test/kube/api/status_test.ts"],
  },
  {
    id: "obey-any-retry-after-of-cloud",
    invariant: "no answer of Xen Orchestra can delay the next request for longer than five minutes",
    edits: edit(
      "lib/cloud_http/http.ts",
      "Math.min(Number(header) * 1_000, RETRY_AFTER_MS_MAX)",
      "Number(header) * 1_000",
    ),
    tests: ["test/cloud_http/http_test.ts"],
  },
  {
    id: "no-limit-at-once",
    invariant: "no more requests run at once than there are places",
    edits: edit(LIMITER, "this.#free -= 1;", ""),
    tests: ["test/core/limiter_test.ts"],
  },
  {
    id: "lose-place-on-failure",
    invariant: "a request that failed gives its place back",
    edits: edit(
      LIMITER,
      "try { return await work(); } finally { this.#give(); }",
      "const _done = await work(); this.#give(); return _done;",
    ),
    tests: ["test/core/limiter_test.ts"],
  },
  {
    id: "leave-timer",
    invariant: "a deadline that was met leaves no timer",
    edits: edit("lib/core/clock.ts", "timer.abort(MET);", "void MET;"),
    tests: ["test/core/clock_test.ts"],
  },
  {
    id: "leave-listener",
    invariant: "a sleep that is over leaves no listener at a signal that lives on",
    edits: edit(
      "lib/core/clock.ts",
      '() => { signal.removeEventListener("abort", abort); resolve();',
      "() => { resolve();",
    ),
    tests: ["test/core/clock_test.ts"],
  },
  {
    id: "listen-again-and-again",
    invariant: "a watch that waits for the API server listens for its return once",
    edits: edit("lib/kube/cache/watcher.ts", "unsubscribe?.();", ""),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "no-descriptor-for-work",
    invariant: "connections of others leave the descriptors that the work needs",
    edits: edit(
      "lib/host/descriptors.ts",
      "(descriptorLimit - KEPT_FOR_WORK) / 2",
      "descriptorLimit / 2",
    ),
    tests: ["test/host/descriptors_test.ts"],
  },
  {
    id: "any-number-of-connections",
    invariant: "a listener has a bound on its connections",
    edits: edit(
      CONNECTIONS,
      "if (this.#connections.size >= this.#max &&",
      "if (this.#connections.size > 1e9 &&",
    ),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "cut-off-any-client",
    invariant:
      "if a listener is full, the client with the most connections loses one, and not a probe",
    edits: edit(CONNECTIONS, "crowd > most || (crowd === most &&", "(crowd >= 0 &&"),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "time-by-asking",
    invariant: "a client does not get more time for its answers by sending more requests",
    edits: edit(
      CONNECTIONS,
      "if (connection.running === 1) connection.dueMs",
      "if (connection.running > 0) connection.dueMs",
    ),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "wait-for-slow-head",
    invariant: "a connection that never sends its request is cut off",
    edits: edit(
      CONNECTIONS,
      "if (dueMs <= nowMs) socket.destroy(); else nextMs",
      "if (dueMs > nowMs) nextMs",
    ),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "die-of-a-reset",
    invariant: "a connection that breaks does not end the process",
    edits: edit(CONNECTIONS, 'socket.on("error", () => socket.destroy());', ""),
    tests: ["test/http/sockets/connections_test.ts"],
  },
  {
    id: "take-a-body",
    invariant: "a request with a body is refused before the body is read",
    edits: edit("lib/http/sockets/exchange.ts", 'length !== "0" ||', 'length === "" ||'),
    tests: ["test/http/sockets/exchange_test.ts"],
  },
  {
    id: "answer-all-at-once",
    invariant: "the number of answers in progress has a bound",
    edits: edit(
      "lib/http/sockets/server.ts",
      "(this.#requests > REQUESTS_MAX && !this.#connections.cutSlow())",
      "(this.#requests > Infinity && !this.#connections.cutSlow())",
    ),
    tests: ["test/http/sockets/server_test.ts"],
  },
  {
    id: "keep-all-log-lines",
    invariant: "log lines without a reader take no more memory than a limit",
    edits: edit(
      "lib/host/log_pipe.ts",
      "this.#waitingBytes + bytes.length > WAITING_BYTES_MAX",
      "this.#waitingBytes + bytes.length > Infinity",
    ),
    tests: ["test/host/log_pipe_test.ts"],
  },
];
