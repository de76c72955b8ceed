/**
 * Breaks of how the API server is followed and written to.
 * @module
 */
import { type Break, edit } from "./break.ts";

const WATCHER = "lib/kube/watcher.ts";
const REQUEST = "lib/kube/request.ts";

export const KUBERNETES_BREAKS: readonly Break[] = [
  {
    id: "resume-from-start",
    invariant: "a watch goes on from the last version that it saw",
    edits: edit(
      WATCHER,
      "if (version !== undefined && !replaying) resourceVersion = version;",
      "if (version !== undefined && !replaying) resourceVersion = from;",
    ),
    tests: ["test/kube/watcher_test.ts"],
  },
  {
    id: "ignore-bookmarks",
    invariant: "a bookmark moves a watch on",
    edits: edit(
      WATCHER,
      'object["kind"] === resource.kind ? toVersion(object) : undefined;',
      'object["kind"] === resource.kind ? undefined : undefined;',
    ),
    tests: ["test/kube/watcher_test.ts"],
  },
  {
    id: "endure-silence",
    invariant: "a watch that says nothing is opened anew",
    edits: edit(
      "lib/kube/watch_silence.ts",
      "if (leftMs <= 0) return this.#silent.abort();",
      "if (leftMs <= 0) return;",
    ),
    tests: ["test/kube/watcher_test.ts"],
  },
  {
    id: "trust-replay",
    invariant: "what a server replays in no order says nothing about how far a watch is",
    edits: edit(
      WATCHER,
      'let replaying = from === "" || from === "0";',
      'let replaying = from === "never";',
    ),
    tests: ["test/kube/watcher_test.ts"],
  },
  {
    id: "ignore-410",
    invariant: "a version that is too old (410) leads to a new list",
    edits: edit(
      "lib/kube/watcher_state.ts",
      'return error.kind === "throttled" ||',
      'return error.kind === "throttled" || error.kind === "gone" ||',
    ),
    tests: ["test/kube/watcher_state_test.ts"],
  },
  {
    id: "refuse-newest",
    invariant: "a list at a version that is refused is asked for anew at the newest",
    edits: edit(
      "lib/kube/watcher_state.ts",
      'if (!isVersionRefused(error)) return { state, pause: "backoff", reason: toReason(error) };',
      'if (error) return { state, pause: "backoff", reason: toReason(error) };',
    ),
    tests: ["test/kube/watcher_state_test.ts"],
  },
  {
    id: "keep-what-a-list-lacks",
    invariant: "a Node that a new list lacks is gone",
    edits: edit(
      "lib/kube/store.ts",
      "for (const [key, object] of before) if (!after.has(key)) this.#tell(key, object, undefined);",
      "for (const [key, object] of before) if (!after.has(key)) after.set(key, object);",
    ),
    tests: ["test/kube/store_test.ts"],
  },
  {
    id: "same-name-same-node",
    invariant: "a Node that comes again under its name is another one",
    edits: edit(
      "lib/kube/store.ts",
      "if (before !== undefined && before.metadata.uid !== after.metadata.uid) {",
      "if (before !== undefined && before.metadata.uid === null) {",
    ),
    tests: ["test/kube/store_test.ts"],
  },
  {
    id: "expired-page-is-end",
    invariant: "a list whose later pages expired is taken anew in one piece",
    edits: edit(
      "lib/kube/list_all.ts",
      "const whole = await client.list(resource, inOnePiece, signal);",
      "const whole = { ...(inOnePiece && first), continue: undefined };",
    ),
    tests: ["test/kube/list_all_test.ts"],
  },
  {
    id: "trust-404-of-proxy",
    invariant: "a 404 without a Status object is no word of the API server",
    edits: edit(
      "lib/kube/status.ts",
      'if (status === undefined && code === 404) return "unavailable";',
      "",
    ),
    tests: ["test/kube/status_test.ts"],
  },
  {
    id: "repeat-any-write",
    invariant: "after a reset connection only what does no harm twice is sent again",
    edits: edit(
      REQUEST,
      "if (broken || !request.repeatable || !isConnectionReset(error))",
      "if (broken || !isConnectionReset(error))",
    ),
    tests: ["test/kube/http_client_test.ts"],
  },
  {
    id: "ignore-retry-after",
    invariant: "a request waits as long as the server asks for",
    edits: edit(REQUEST, "await clock.sleep(pauseMs, signal);", "await clock.sleep(0, signal);"),
    tests: ["test/kube/request_test.ts"],
  },
  {
    id: "request-without-deadline",
    invariant: "a request to the API server has a deadline",
    edits: edit(
      "lib/kube/http_client.ts",
      "const stopped = deadline.signal;",
      "const stopped = deadlineMs > 0 ? signal : deadline.signal;",
    ),
    tests: ["test/kube/http_client_test.ts"],
    simulated: true,
  },
  {
    id: "follow-redirects",
    invariant: "a redirect of the API server does not carry the token away",
    edits: edit("lib/kube/transport.ts", 'redirect: "manual",', 'redirect: "follow",'),
    tests: ["test/kube/transport_test.ts"],
  },
  {
    id: "show-proxy-password",
    invariant: "an error shows the host of a proxy and not its password",
    edits: edit(
      "lib/kube/transport.ts",
      "through the proxy ${formatHostPort(proxy)}`",
      "through the proxy ${proxy}`",
    ),
    tests: ["test/kube/transport_test.ts"],
  },
  {
    id: "log-secrets",
    invariant: "a log shows no field whose name says that it is a secret",
    edits: edit(
      "lib/core/log.ts",
      "SECRET_NAME.test(name) ? REDACTED : toValue(value)",
      "SECRET_NAME.test(REDACTED) ? REDACTED : toValue(value)",
    ),
    tests: ["test/core/log_test.ts"],
  },
];
