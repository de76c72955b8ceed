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
    invariant: "a remembered answer belongs to the whole token",
    edits: edit(
      ACCESS,
      "this.#users.ask(toHash(token), (signal)",
      "this.#users.ask(toHash(token.slice(0, 8)), (signal)",
    ),
    tests: ["test/http/access/access_test.ts"],
  },
  {
    id: "right-for-every-path",
    invariant: "the right to one page does not give the right to another page",
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
    invariant: "invented tokens cause at most two requests a second to the API server",
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
    invariant: "a web page cannot read the debug pages by giving this machine another name",
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
    invariant: "a request with two tokens is refused, because it is not clear which one counts",
    edits: edit(
      "lib/http/sockets/exchange.ts",
      '(name === "host" || name === "authorization")',
      'name === "host"',
    ),
    tests: ["test/http/sockets/exchange_test.ts"],
  },
  {
    id: "part-of-a-user",
    invariant: "a user counts only if the whole answer about the user can be read",
    edits: edit(
      "lib/kube/access/delegated_review.ts",
      "|| !isAbsentOr(isTexts, groups) || !isAbsentOr(isExtra, extra)",
      "|| !isAbsentOr(isExtra, extra)",
    ),
    tests: ["test/kube/access/delegated_review_test.ts"],
  },
  {
    id: "authenticated-somehow",
    invariant: "a token review counts only if it says true",
    edits: edit(
      "lib/kube/access/delegated_review.ts",
      'status["authenticated"] !== true',
      '!status["authenticated"]',
    ),
    tests: ["test/kube/access/delegated_review_test.ts"],
  },
  {
    id: "impersonate-in-silence",
    invariant: "if a kubeconfig asks to act as another user, Landfall does so or refuses",
    edits: edit("lib/kube/credentials/kubeconfig.ts", "{ ...own, ...acting }", "own"),
    tests: ["test/kube/credentials/kubeconfig_test.ts"],
  },
  {
    id: "take-live-socket",
    invariant: "the socket of a running process is not removed",
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
      "seen = found; checkKeyPair(found, files, port);",
      "seen = found;",
    ),
    tests: ["test/http/certificate/key_pair_test.ts"],
  },
];
