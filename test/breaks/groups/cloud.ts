/**
 * Breaks of how a cloud is asked, and of what is kept of its answers.
 * @module
 */
import { type Break, edit } from "../break.ts";

const SOURCE = "lib/cloud/inventory/source.ts";
const PROVIDER = "lib/providers/xenorchestra/provider.ts";
const GENERATIONS = "lib/cloud_http/generations.ts";
const CLIENT = "lib/cloud_http/client.ts";
const SESSION = "lib/providers/xenorchestra/session/session.ts";
const EVENTS = "lib/cloud_http/change_feed.ts";
const HTTP = "lib/cloud_http/http.ts";
const TOKENS = "lib/providers/xenorchestra/session/tokens.ts";

export const CLOUD_BREAKS: readonly Break[] = [
  {
    id: "drop-inventory-on-failure",
    invariant: "a failed refresh changes only the age of the inventory",
    edits: edit(
      SOURCE,
      "this.#lastAttemptMs = startedMs; this.#failures += 1;",
      "this.#lastAttemptMs = startedMs; this.#failures += 1; this.#current = undefined;",
      'if (due === "everything" || this.#current === undefined) return;',
    ),
    tests: ["test/cloud/inventory/source_test.ts"],
  },
  {
    id: "hint-is-truth",
    invariant: "only a refresh can show that an instance is missing, never the read after a hint",
    edits: edit(
      SOURCE,
      "const shown = (await provider.changes?.readInstances?.(due, signal)) ?? new Map<string, never>(); " +
        "const { inventory, changed } = mergeInstances(this.#current, shown); " +
        "this.#current = inventory;",
      "const shown = (await provider.changes?.readInstances?.(due, signal)) ?? new Map<string, never>(); " +
        "const { inventory, changed } = mergeInstances(this.#current, shown); " +
        "const _left = [...inventory.instances].filter(([_id]) => !due.has(_id) || shown.has(_id)); " +
        "this.#current = { ...inventory, instances: new Map(_left) };",
      "if (isOther || next.instances !== this.#current?.instances)",
    ),
    tests: ["test/cloud/inventory/hints_test.ts"],
  },
  {
    id: "hint-renews-age",
    invariant: "the read after a hint does not make the inventory younger",
    edits: edit(
      SOURCE,
      "this.#current = inventory; if (changed.size > 0)",
      "this.#current = { ...inventory, observedAtMs: this.#options.clock.monotonic() }; " +
        "if (changed.size > 0)",
      "this.#options.clock.monotonic() - this.#current.observedAtMs",
    ),
    tests: ["test/cloud/inventory/hints_test.ts"],
  },
  {
    id: "heed-hints-of-no-node",
    invariant: "a hint about an instance without a Node causes no request",
    edits: edit(
      SOURCE,
      "if (!this.#hints.add(hint, isOfNode)) return;",
      "this.#hints.add(hint, isOfNode);",
    ),
    tests: ["test/cloud/inventory/hints_test.ts"],
  },
  {
    id: "keep-old-judgements",
    invariant: "results under old settings are not written to Nodes under new settings",
    edits: edit(SOURCE, "if (isForNewSettings) this.#revision += 1;", ""),
    tests: ["test/controllers/node_presences_test.ts"],
  },
  {
    id: "look-at-changes-alone",
    invariant: "the first inventory with new settings makes every Node reconcile",
    edits: edit(
      SOURCE,
      "const isOther = hadNewSettings || hasOtherCoverage(this.#current, next);",
      "const isOther = hasOtherCoverage(this.#current, next);",
    ),
    tests: ["test/cloud/inventory/source_test.ts", "test/app/live_changes_test.ts"],
  },
  {
    id: "look-at-instances-alone",
    invariant: "a pool that is lost or answers again makes every Node reconcile",
    edits: edit(
      SOURCE,
      "const isOther = hadNewSettings || hasOtherCoverage(this.#current, next);",
      "const isOther = hadNewSettings;",
    ),
    tests: ["test/controllers/node_labels/xenorchestra_test.ts"],
  },
  {
    id: "hurry-cloud-in-trouble",
    invariant:
      "while the cloud fails, the back-off decides when to ask again, even if a caller requests a refresh",
    edits: edit(
      SOURCE,
      "if (this.#lastError && !this.#isForNewSettings) return Infinity;",
      "if (this.#lastError && this.#isForNewSettings) return Infinity;",
    ),
    tests: ["test/cloud/inventory/source_test.ts"],
  },
  {
    id: "ask-at-once",
    invariant: "a Node that is not listed waits for a refresh before the cloud is asked about it",
    edits: edit(
      "lib/cloud/inventory/resolver.ts",
      "if (sinceMs === undefined || (this.#source.lastAttemptMs ?? -Infinity) <= sinceMs) {",
      "if (sinceMs !== undefined && (this.#source.lastAttemptMs ?? -Infinity) <= sinceMs) {",
    ),
    tests: ["test/cloud/inventory/resolver_test.ts"],
  },
  {
    id: "accept-old-answer",
    invariant: "an answer that was asked for with old settings is thrown away",
    edits: edit(
      GENERATIONS,
      "if (by === this.#now) { this.#isSettled = true;",
      "if (by !== undefined) { this.#isSettled = true;",
    ),
    tests: [
      "test/cloud_http/generations_test.ts",
      "test/providers/xenorchestra/provider_reconfigure_test.ts",
    ],
  },
  {
    id: "settle-too-early",
    invariant: "no direct answer is given before the first inventory under new settings",
    edits: edit(GENERATIONS, "this.#isSettled = false;", "this.#isSettled = true;"),
    tests: [
      "test/cloud_http/generations_test.ts",
      "test/providers/xenorchestra/provider_reconfigure_test.ts",
    ],
  },
  {
    id: "keep-memory-of-other-cloud",
    invariant: "if the url changes, Landfall forgets what it knew about the other Xen Orchestra",
    edits: edit(
      PROVIDER,
      "isSameCloud ? memory : new Memory();",
      "isSameCloud ? memory : (memory ?? new Memory());",
    ),
    tests: ["test/providers/xenorchestra/provider_reconfigure_test.ts"],
  },
  {
    id: "etag-of-other-query",
    invariant: "an ETag counts only for the request that it came with",
    edits: edit(
      "lib/providers/xenorchestra/wire/api.ts",
      "const knownEtag = known?.path === path ? known.etag : undefined;",
      "const knownEtag = known?.etag;",
    ),
    tests: ["test/providers/xenorchestra/wire/api_test.ts"],
  },
  {
    id: "etag-of-cache",
    invariant: "a 304 for another ETag than ours does not count",
    edits: edit(
      "lib/providers/xenorchestra/wire/api.ts",
      'if (isSameEtag(reply.etag ?? knownEtag, knownEtag)) return "unchanged";',
      'if (isSameEtag(knownEtag, knownEtag)) return "unchanged";',
    ),
    tests: ["test/providers/xenorchestra/wire/api_test.ts"],
  },
  {
    id: "cloud-without-deadline",
    invariant: "a request to Xen Orchestra has a deadline",
    edits: edit(
      CLIENT,
      "using started = startDeadline(signal, timeoutMs, this.#deps.clock); " +
        "const deadline = started.signal;",
      "using started = startDeadline(signal, timeoutMs, this.#deps.clock); " +
        "const deadline = timeoutMs > 0 ? AbortSignal.any([signal]) : started.signal;",
    ),
    tests: [
      "test/cloud_http/client_test.ts",
      "test/providers/xenorchestra/session/session_test.ts",
    ],
    simulated: "nodes",
  },
  {
    id: "show-refused-token",
    invariant: "a token that was refused is not sent again at once",
    edits: edit(SESSION, "this.#deny(token); if (attempt === 2", "if (attempt === 2"),
    tests: ["test/providers/xenorchestra/session/session_test.ts"],
  },
  {
    id: "cookie-to-other-origin",
    invariant: "a redirect to another origin does not get the token",
    edits: edit(
      HTTP,
      "if (to === null || to.origin !== new URL(from).origin) {",
      "if (to === null) {",
    ),
    tests: ["test/cloud_http/http_test.ts"],
  },
  {
    id: "silent-stream",
    invariant: "a stream of events without any bytes for too long is opened again",
    edits: edit(
      EVENTS,
      "guard.setLimit(source.silenceMs); this.#connected.set(1);",
      "guard.setLimit(source.silenceMs * 100); this.#connected.set(1);",
    ),
    tests: [
      "test/cloud_http/change_feed_test.ts",
      "test/providers/xenorchestra/wire/events_test.ts",
    ],
  },
  {
    id: "gap-between-streams",
    invariant:
      "a new event stream begins with a refresh of everything, because it may have missed changes",
    edits: edit(EVENTS, 'onHint("everything");', ""),
    tests: [
      "test/cloud_http/change_feed_test.ts",
      "test/providers/xenorchestra/wire/events_test.ts",
    ],
  },
  {
    id: "hurry-with-password",
    invariant: "a password that was refused is not sent again within two and a half seconds",
    edits: edit(
      TOKENS,
      "if (!this.#mayTry()) { const",
      "if (this.#failures < 0) { const",
      "toBackoffMs(this.#failures, MINT_BACKOFF)",
    ),
    tests: ["test/providers/xenorchestra/session/tokens_test.ts"],
  },
  {
    id: "mint-many",
    invariant: "many requests that need a token cause one request for a token",
    edits: edit(TOKENS, "this.#minting ??= this.#mint()", "this.#minting = this.#mint()"),
    tests: ["test/providers/xenorchestra/session/tokens_test.ts"],
  },
  {
    id: "drop-token-too-early",
    invariant: "a renewal that fails leaves the token in use",
    edits: edit(
      TOKENS,
      "this.#failures += 1; if (error",
      "this.#failures += 1; this.#current = undefined; if (error",
      "this.#current = { token, expiresAtMs: endsAtMs, renewAtMs };",
    ),
    tests: ["test/providers/xenorchestra/session/tokens_test.ts"],
  },
  {
    id: "use-empty-token",
    invariant: "if the token file is missing or has no token, the last token stays in use",
    edits: edit(
      TOKENS,
      'if (typeof read === "string") this.#token = read;',
      'this.#token = typeof read === "string" ? read : "";',
    ),
    tests: ["test/providers/xenorchestra/session/tokens_test.ts"],
  },
  {
    id: "use-broken-ca",
    invariant: "a caFile that is broken leaves the last good one in use",
    edits: edit(
      "lib/cloud_http/ca_file.ts",
      "const pem = this.#toCertificates(text);",
      "const pem = text;",
    ),
    tests: ["test/cloud_http/ca_file_test.ts"],
  },
  {
    id: "begin-twice",
    invariant: "a server that repeats the beginning of a stream causes no further requests",
    edits: edit(
      EVENTS,
      "if (hasBegun || !(await source.begin(event, both))) continue;",
      "if (!(await source.begin(event, both))) continue;",
    ),
    tests: [
      "test/cloud_http/change_feed_test.ts",
      "test/providers/xenorchestra/wire/events_test.ts",
    ],
  },
  {
    id: "any-etag",
    invariant: "only a valid ETag is sent back to the server",
    edits: edit(
      HTTP,
      "header.length <= ETAG_LENGTH_MAX && ETAG.test(header)",
      "header.length <= ETAG_LENGTH_MAX",
    ),
    tests: ["test/cloud_http/http_test.ts"],
  },
  {
    id: "password-after-redirect",
    invariant: "a password is not sent to the target of a redirect",
    edits: edit(
      HTTP,
      'reply.redirectUrl === undefined || request.method !== "GET"',
      "reply.redirectUrl === undefined",
    ),
    tests: ["test/cloud_http/http_test.ts"],
  },
  {
    id: "take-any-certificate",
    invariant: "no other certificate than the pinned one gets the token",
    edits: edit(
      "lib/cloud_http/trust.ts",
      "if (normalise(certificate.fingerprint256) !== pin)\n      throw",
      'if (normalise(certificate.fingerprint256) === "")\n      throw',
    ),
    tests: ["test/cloud_http/trust_test.ts"],
  },
];
