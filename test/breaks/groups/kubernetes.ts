/**
 * Breaks of how the API server is followed and written to.
 * @module
 */
import { type Break, edit } from "../break.ts";

const WATCHER = "lib/kube/cache/watcher.ts";
const REQUEST = "lib/kube/api/request.ts";
const WIRE = "lib/kube/api/wire.ts";

export const KUBERNETES_BREAKS: readonly Break[] = [
  {
    id: "resume-from-start",
    invariant: "a watch continues from the last version that it saw",
    edits: edit(
      WATCHER,
      "if (version !== undefined && !replaying) resourceVersion = version;",
      "if (version !== undefined && !replaying) resourceVersion = from;",
      "let resourceVersion = from;",
    ),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "ignore-bookmarks",
    invariant: "a bookmark advances the version of a watch",
    edits: edit(
      WATCHER,
      'object["kind"] === resource.kind ? toVersion(object) : undefined;',
      'object["kind"] === resource.kind ? undefined : undefined;',
    ),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "endure-silence",
    invariant: "a watch without any bytes is opened again",
    edits: edit(
      "lib/kube/cache/watch_silence.ts",
      "if (leftMs <= 0) return this.#giveUp();",
      "if (leftMs <= 0) return;",
    ),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "trust-replay",
    invariant: "events that a server replays in no order do not advance the version of a watch",
    edits: edit(
      WATCHER,
      'let replaying = from === "" || from === "0";',
      'let replaying = from === "never";',
    ),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "ignore-410",
    invariant: "a version that is too old (410) leads to a new list",
    edits: edit(
      "lib/kube/cache/watcher_state.ts",
      'return error.kind === "throttled" ||',
      'return error.kind === "throttled" || error.kind === "gone" ||',
    ),
    tests: ["test/kube/cache/watcher_state_test.ts"],
  },
  {
    id: "refuse-newest",
    invariant: "a list at a version that is refused is requested again at the newest",
    edits: edit(
      "lib/kube/cache/watcher_state.ts",
      'if (!isVersionRefused(error)) return { state, pause: "backoff", reason: toReason(error) };',
      'if (error) return { state, pause: "backoff", reason: toReason(error) };',
    ),
    tests: ["test/kube/cache/watcher_state_test.ts"],
  },
  {
    id: "keep-what-a-list-lacks",
    invariant: "a Node that a new list lacks is gone",
    edits: edit(
      "lib/kube/cache/store.ts",
      "for (const [key, object] of before) if (!after.has(key)) this.#tell(key, object, undefined);",
      "for (const [key, object] of before) if (!after.has(key)) after.set(key, object);",
    ),
    tests: ["test/kube/cache/store_test.ts"],
  },
  {
    id: "same-name-same-node",
    invariant: "a Node that is created again with the same name is another Node",
    edits: edit(
      "lib/kube/cache/store.ts",
      "if (before !== undefined && before.metadata.uid !== after.metadata.uid) {",
      "if (before !== undefined && before.metadata.uid === null) {",
    ),
    tests: ["test/kube/cache/store_test.ts"],
  },
  {
    id: "expired-page-is-end",
    invariant: "a list whose later pages expired is read again in one piece",
    edits: edit(
      "lib/kube/cache/list_all.ts",
      "...inOnePiece } = query; const whole = await client.list(resource, inOnePiece, signal);",
      "...inOnePiece } = query; const whole = { ...(inOnePiece && first), continue: undefined };",
      "return { items, resourceVersion: first.resourceVersion, paged: true };",
      "whole.continue === undefined",
    ),
    tests: ["test/kube/cache/list_all_test.ts"],
  },
  {
    id: "trust-404-of-proxy",
    invariant: "a 404 without a Status object does not come from the API server",
    edits: edit(
      "lib/kube/api/status.ts",
      'if (status === undefined && code === 404) return "unavailable";',
      "",
    ),
    tests: ["test/kube/api/status_test.ts"],
  },
  {
    id: "repeat-any-write",
    invariant: "after a reset connection only requests that are safe to repeat are sent again",
    edits: edit(
      REQUEST,
      "if (broken || !request.repeatable || !isConnectionReset(error))",
      "if (broken || !isConnectionReset(error))",
    ),
    tests: ["test/kube/api/http_client_test.ts"],
  },
  {
    id: "ignore-retry-after",
    invariant: "a request waits as long as the server asks for",
    edits: edit(REQUEST, "await clock.sleep(pauseMs, signal);", "await clock.sleep(0, signal);"),
    tests: ["test/kube/api/request_test.ts"],
  },
  {
    id: "request-without-deadline",
    invariant: "a request to the API server has a deadline",
    edits: edit(
      "lib/kube/api/http_client.ts",
      "using deadline = startDeadline(signal, deadlineMs, clock); " +
        "const stopped = deadline.signal;",
      "using deadline = startDeadline(signal, deadlineMs, clock); " +
        "const stopped = deadlineMs > 0 ? signal : deadline.signal;",
    ),
    tests: ["test/kube/api/http_client_test.ts"],
    simulated: "nodes",
  },
  {
    id: "follow-redirects",
    invariant: "a redirect of the API server does not carry the token away",
    edits: edit("lib/kube/api/transport.ts", 'redirect: "manual",', 'redirect: "follow",'),
    tests: ["test/kube/api/transport_test.ts"],
  },
  {
    id: "list-without-damaged",
    invariant:
      "a list with a damaged object is refused as a whole, because the missing object would count as deleted",
    edits: edit(WIRE, "if (damage === undefined) continue;", 'if (damage !== "") continue;'),
    tests: ["test/kube/api/wire_test.ts"],
  },
  {
    id: "pass-over-damaged-event",
    invariant: "an event that cannot be understood leads to a new list",
    edits: edit(
      WATCHER,
      "if (damage !== undefined) throw toOddEvent(",
      'if (damage === "") throw toOddEvent(',
    ),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "answer-of-another",
    invariant: "an answer about another object is no answer",
    edits: edit(
      WIRE,
      '(name === undefined || metadata["name"] === name)',
      '(name === undefined || metadata["name"] !== null)',
    ),
    tests: ["test/kube/api/wire_test.ts"],
  },
  {
    id: "deleted-by-any-answer",
    invariant: "a deletion is complete only after Kubernetes confirms it",
    edits: edit(
      WIRE,
      'if (isDone || answer["kind"] === kind) return;',
      'if (isDone || answer["kind"] !== null) return;',
    ),
    tests: ["test/kube/api/wire_test.ts"],
  },
  {
    id: "delete-twice",
    invariant: "a deletion without a precondition is not sent twice",
    edits: edit(
      WIRE,
      "const repeatable = Object.keys(preconditions).length > 0;",
      "const repeatable = Object.keys(preconditions).length >= 0;",
    ),
    tests: ["test/kube/api/wire_test.ts"],
  },
  {
    id: "part-is-whole",
    invariant: "a list that was asked for in one piece and comes in part is refused",
    edits: edit(
      "lib/kube/cache/list_all.ts",
      "if (whole.continue === undefined) return { ...toList(whole), paged: true }",
      "if (whole !== undefined) return { ...toList(whole), paged: true }",
    ),
    tests: ["test/kube/cache/list_all_test.ts"],
  },
  {
    id: "half-event",
    invariant: "a watch that ends within an event is broken",
    edits: edit(
      "lib/kube/api/watch_stream.ts",
      'if (pieces.join("").trim() !== "") {',
      "if (pieces.length < 0) {",
    ),
    tests: ["test/kube/api/watch_stream_test.ts"],
  },
  {
    id: "border-in-text",
    invariant: "text inside an object of a list is never taken for the border of two objects",
    edits: edit(
      "lib/kube/api/list_body.ts",
      "const object = parseObject(text.slice(startAt, at + 1)); if (object !== undefined) {",
      "const object = parseObject(text.slice(startAt, at + 1)); " +
        "if (object !== undefined || at > 0) {",
    ),
    tests: ["test/kube/api/list_body_test.ts"],
  },
  {
    id: "hide-damage",
    invariant: "a damaged object of a list is reported as damaged",
    edits: edit(
      "lib/kube/api/list_body.ts",
      "if (findDamage(this.#resource, object) !== undefined) return object;",
      'if (findDamage(this.#resource, object) === "") return object;',
    ),
    tests: ["test/kube/api/list_body_test.ts"],
  },
  {
    id: "interrupt-speaker",
    invariant: "a watch that receives bytes does not count as silent",
    edits: edit(
      "lib/kube/cache/watch_silence.ts",
      "this.#heardMs = this.#clock.monotonic(); }",
      "this.#clock.monotonic(); }",
    ),
    tests: ["test/kube/cache/watch_silence_test.ts"],
  },
  {
    id: "keep-silent-connections",
    invariant: "after a request without an answer, no request uses an old connection",
    edits: edit(
      REQUEST,
      "if (isTimeout(error)) transport.giveUp(generation);",
      "if (isTimeout(error)) transport.giveUp(-1);",
    ),
    tests: ["test/kube/api/http_client_test.ts"],
  },
  {
    id: "silent-watch-alone",
    invariant: "a watch that was silent gives up the idle connections of its client, too",
    edits: edit(
      "lib/kube/api/http_client.ts",
      "if (isTimeout(signal.reason)) transport.giveUp(generation);",
      "if (isTimeout(signal.reason)) transport.giveUp(-1);",
    ),
    tests: ["test/kube/api/http_client_test.ts"],
  },
  {
    id: "close-new-connections",
    invariant: "requests without an answer on old connections do not close new connections",
    edits: edit(
      "lib/kube/api/transport.ts",
      "if (silent !== generation) return;",
      "if (silent > generation) return;",
    ),
    tests: ["test/kube/api/transport_test.ts"],
  },
  {
    id: "believe-silent-watch",
    invariant: "a quiet watch is opened again when another connection turns out to be silent",
    edits: edit(
      "lib/kube/cache/watch_silence.ts",
      'if (news === "reconnected" &&',
      'if (news === "answers" &&',
    ),
    tests: ["test/kube/cache/watch_silence_test.ts", "test/kube/cache/watcher_test.ts"],
  },
  {
    id: "quiet-watch-for-long",
    invariant: "a quiet watch is requested in pieces that end before it would count as silent",
    edits: edit(
      "lib/kube/cache/watcher_state.ts",
      "isQuiet ? QUIET_SECONDS : LONG_SECONDS",
      "isQuiet ? LONG_SECONDS : QUIET_SECONDS",
    ),
    tests: ["test/kube/cache/watcher_state_test.ts", "test/kube/cache/watcher_test.ts"],
  },
  {
    id: "wait-though-back",
    invariant:
      "a watch that waits continues when another part of the process reaches the server again",
    edits: edit(
      "lib/kube/api/recovery.ts",
      "for (const listener of this.#listeners) listener(news);",
      "for (const listener of this.#listeners) if (listener.length > 1) listener(news);",
    ),
    tests: ["test/kube/api/recovery_test.ts", "test/kube/cache/watcher_test.ts"],
  },
  {
    id: "hurry-though-asked",
    invariant: "a pause that the server asked for is kept, even when the server is back",
    edits: edit(WATCHER, "pauseMs > WATCH_GAP_MS && !isAsked ?", "pauseMs > WATCH_GAP_MS ?"),
    tests: ["test/kube/cache/watcher_test.ts"],
  },
  {
    id: "distrust-without-end",
    invariant:
      "after a refused certificate Landfall tries once more with new credentials, and then no more",
    edits: edit(
      REQUEST,
      "if (distrusted?.version === credential.version) throw named(request, distrusted.error);",
      "",
    ),
    tests: ["test/kube/api/request_test.ts"],
  },
  {
    id: "name-as-path",
    invariant: "the name of an object is one part of a path, with any characters",
    edits: edit("lib/kube/kinds/resource.ts", "[encodeURIComponent(path.name)]", "[path.name]"),
    tests: ["test/kube/kinds/resource_test.ts"],
  },
  {
    id: "missing-by-404",
    invariant: "a 404 for a list does not say that the kind is gone",
    edits: edit(
      "lib/kube/cache/caches.ts",
      'this.#serving = (await this.#look(signal)) ?? "served";',
      'this.#serving = "missing";',
    ),
    tests: ["test/kube/cache/caches_test.ts"],
  },
  {
    id: "gone-at-once",
    invariant:
      "the objects of a kind are removed after the API server said twice that the kind does not exist",
    edits: edit(
      "lib/kube/cache/caches.ts",
      'const isGone = serving === "missing" && this.#serving === "missing";',
      'const isGone = serving === "missing";',
      "const serving = await this.#look(signal);",
    ),
    tests: ["test/kube/cache/caches_test.ts"],
  },
  {
    id: "gone-with-a-version",
    invariant: "a kind that is served in another version only is not gone",
    edits: edit(
      "lib/kube/cache/discovery.ts",
      'return serving.length > 0 ? "otherVersion" : "missing";',
      'return "missing";',
    ),
    tests: ["test/kube/cache/discovery_test.ts"],
  },
  {
    id: "not-found-is-gone",
    invariant:
      "a reconcile that met a 404 is tried again as long as the watch shows its object: something else may be missing",
    edits: edit(
      "lib/engine/workers.ts",
      'if (exists?.(key) !== true) return "gone";',
      'if (exists?.(key) !== undefined) return "gone";',
    ),
    tests: ["test/engine/workers_test.ts"],
  },
];
