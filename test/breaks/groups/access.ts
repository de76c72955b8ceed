/**
 * Breaks of who may look.
 * @module
 */
import { type Break, edit } from "../break.ts";

const ACCESS = "lib/http/access/access.ts";

export const ACCESS_BREAKS: readonly Break[] = [
  {
    id: "ask-for-no-token",
    invariant: "on the HTTPS port everything but the probes needs a token",
    edits: edit(
      ACCESS,
      "options.alwaysAllowPaths.some((pattern) => isMatch(path, pattern));",
      'options.alwaysAllowPaths.some((pattern) => pattern !== "");',
    ),
    tests: ["test/http/access/access_test.ts"],
  },
  {
    id: "open-without-an-answer",
    invariant: "a user whom the API server cannot check is denied",
    edits: edit(ACCESS, 'return "unavailable";', 'return "allowed";'),
    tests: ["test/http/access/access_test.ts"],
  },
  {
    id: "token-by-prefix",
    invariant: "an answer is remembered for the whole token",
    edits: edit(
      ACCESS,
      "this.#users.ask(toHash(token), (signal)",
      "this.#users.ask(toHash(token.slice(0, 8)), (signal)",
    ),
    tests: ["test/http/access/access_test.ts"],
  },
  {
    id: "right-for-every-path",
    invariant: "a right to one page is no right to another",
    edits: edit(
      ACCESS,
      "toHash(JSON.stringify([user.value, access]));",
      "toHash(JSON.stringify([user.value]));",
    ),
    tests: ["test/http/access/access_test.ts"],
  },
  {
    id: "unclear-is-yes",
    invariant: "an access review without a clear answer denies access",
    edits: [
      ...edit(
        "lib/kube/access/delegated_review.ts",
        'const isClear = typeof allowed === "boolean" && typeof denied === "boolean";',
        "const isClear = denied !== undefined;",
      ),
      ...edit(
        "lib/kube/access/delegated_review.ts",
        'throw toUnclear("SubjectAccessReview"); return allowed;',
        'throw toUnclear("SubjectAccessReview"); return allowed !== false;',
      ),
    ],
    tests: ["test/kube/access/delegated_review_test.ts"],
  },
  {
    id: "free-refusals",
    invariant: "made-up tokens cost the API server two questions a second at most",
    edits: edit(
      "lib/http/access/review_cache.ts",
      "if (value === undefined) { this.#budget.spend();",
      "if (value === undefined) {",
    ),
    tests: ["test/http/access/review_cache_test.ts"],
  },
  {
    id: "debug-for-all",
    invariant: "the listener that asks for no token is on loopback or a unix socket",
    edits: edit(
      "lib/cli/flags/listeners.ts",
      'if (address.kind === "unix" || isLoopbackHost(address.host)) return address;',
      'if (address.kind === "unix" || address.host !== "") return address;',
    ),
    tests: ["test/cli/flags/mod_test.ts"],
  },
  {
    id: "any-host-header",
    invariant: "a web page cannot read the debug pages by a name of its own for this machine",
    edits: edit(
      "lib/http/sockets/host_header.ts",
      "if (host !== undefined && isLoopbackHost(host)) return undefined;",
      "if (host !== undefined) return undefined;",
    ),
    tests: ["test/http/sockets/host_header_test.ts"],
  },
  {
    id: "no-host-header",
    invariant: "a request on a loopback port that names no host is refused",
    edits: edit(
      "lib/http/sockets/host_header.ts",
      "if (host !== undefined && isLoopbackHost(host)) return undefined;",
      "if (host === undefined || isLoopbackHost(host)) return undefined;",
    ),
    tests: ["test/http/sockets/host_header_test.ts"],
  },
  {
    id: "two-tokens",
    invariant: "a request with two tokens is refused, for which of them counts is unclear",
    edits: edit(
      "lib/http/sockets/exchange.ts",
      '(name === "host" || name === "authorization")',
      'name === "host"',
    ),
    tests: ["test/http/sockets/exchange_test.ts"],
  },
  {
    id: "part-of-a-user",
    invariant: "a user of whom only a part can be read is no user",
    edits: edit(
      "lib/kube/access/delegated_review.ts",
      "|| !isAbsentOr(isTexts, groups) || !isAbsentOr(isExtra, extra)",
      "|| !isAbsentOr(isExtra, extra)",
    ),
    tests: ["test/kube/access/delegated_review_test.ts"],
  },
  {
    id: "authenticated-somehow",
    invariant: "a token review says true or it says nothing",
    edits: edit(
      "lib/kube/access/delegated_review.ts",
      'status["authenticated"] !== true',
      '!status["authenticated"]',
    ),
    tests: ["test/kube/access/delegated_review_test.ts"],
  },
  {
    id: "impersonate-in-silence",
    invariant: "a kubeconfig that asks to act as another user is obeyed or refused",
    edits: edit("lib/kube/credentials/kubeconfig.ts", "...readImpersonation(user)", ""),
    tests: ["test/kube/credentials/kubeconfig_test.ts"],
  },
  {
    id: "take-live-socket",
    invariant: "the socket of a process that lives is left alone",
    edits: edit(
      "lib/http/sockets/unix_socket.ts",
      'if (await canConnect(path, signal)) return "live";',
      "",
    ),
    tests: ["test/http/sockets/unix_socket_test.ts"],
  },
  {
    id: "serve-broken-pair",
    invariant: "a new certificate that does not fit its key leaves the old one in use",
    edits: edit(
      "lib/http/certificate/key_pair.ts",
      "seen = found; checkKeyPair(found, files);",
      "seen = found;",
    ),
    tests: ["test/http/certificate/key_pair_test.ts"],
  },
];
