/**
 * Breaks of what keeps secrets, and texts that deceive, out of what is said.
 * @module
 */
import { type Break, edit } from "../break.ts";

const REDACT = "lib/core/text/redact.ts";
const PRINTABLE = "lib/core/text/printable.ts";
const KUBECONFIG = "lib/kube/credentials/kubeconfig.ts";

export const SECRET_BREAKS: readonly Break[] = [
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
  {
    id: "repeat-token",
    invariant: "an error does not show the token that the API server repeats",
    edits: edit(
      "lib/kube/api/request.ts",
      "redact(body, listSecrets(credential.headers))",
      "redact(body, [])",
    ),
    tests: ["test/kube/api/request_test.ts"],
  },
  {
    id: "repeat-cookie",
    invariant: "an error does not show the token that Xen Orchestra repeats",
    edits: edit(
      "lib/cloud_http/http.ts",
      "return redact(text, listSecrets(sent));",
      "return redact(text, listSecrets(sent).slice(0, 0));",
    ),
    tests: ["test/cloud_http/http_test.ts"],
  },
  {
    id: "show-password-of-basic",
    invariant: "the password within an Authorization header is a secret, too",
    edits: edit(REDACT, "secrets.push(password);", "void password;"),
    tests: ["test/core/text/redact_test.ts"],
  },
  {
    id: "redact-once",
    invariant: "a secret is hidden at every place in a text",
    edits: edit(
      REDACT,
      'shown.replaceAll(secret, "(secret)")',
      'shown.replace(secret, "(secret)")',
    ),
    tests: ["test/core/text/redact_test.ts"],
  },
  {
    id: "repeat-wrong-line",
    invariant: "a token that was written in the place of a path is not shown",
    edits: edit(
      "lib/providers/xenorchestra/session/tokens.ts",
      "const message = isPathLike(path) ?",
      'const message = path !== "" ?',
    ),
    tests: ["test/providers/xenorchestra/session/session_test.ts"],
  },
  {
    id: "repeat-missing-blank",
    invariant: "a value without a space before it is not shown as a key",
    edits: edit("lib/config/provider_config.ts", '.replace(/:.*$/s, ":…")', ""),
    tests: ["test/config/provider_config_test.ts"],
  },
  {
    id: "show-server",
    invariant: "an address that may hold a password, or be a token, is not shown",
    edits: edit(
      KUBECONFIG,
      'const isHarmless = server.length < SECRET_LENGTH_MIN && !server.includes("@");',
      "const isHarmless = server.length > 0;",
    ),
    tests: ["test/kube/credentials/kubeconfig_test.ts"],
  },
  {
    id: "show-proxy",
    invariant: "the address of a proxy, which may hold a password, is not shown",
    edits: edit(
      KUBECONFIG,
      "`${kind}; give an http or https address`",
      "`${url} ${kind}; give an http or https address`",
      "const kind = url?.protocol",
    ),
    tests: ["test/kube/credentials/kubeconfig_test.ts"],
  },
  {
    id: "show-proxy-password",
    invariant: "an error shows the host of a proxy and not its password",
    edits: edit(
      "lib/kube/api/transport.ts",
      "` through the proxy ${formatHostPort(proxy)}`",
      "` through the proxy ${proxy}`",
    ),
    tests: ["test/kube/api/transport_test.ts"],
  },
  {
    id: "move-the-cursor",
    invariant: "a name on a terminal cannot move the cursor",
    edits: edit(PRINTABLE, '/[\\p{Cc}\\p{Cf}]/gu, "?"', '/[\\p{Cf}]/gu, "?"'),
    tests: ["test/core/text/printable_test.ts"],
  },
  {
    id: "turn-the-writing",
    invariant: "a name on a terminal cannot change the direction of writing",
    edits: edit(PRINTABLE, '/[\\p{Cc}\\p{Cf}]/gu, "?"', '/[\\p{Cc}]/gu, "?"'),
    tests: ["test/core/text/printable_test.ts"],
  },
  {
    id: "log-the-unseen",
    invariant: "a log line contains no invisible characters",
    edits: edit(
      PRINTABLE,
      "/[\\x7f-\\x9f\\p{Cf}\\p{Cs}\\u2028\\u2029]/gu",
      "/[\\x7f-\\x9f\\p{Cs}\\u2028\\u2029]/gu",
    ),
    tests: ["test/core/text/printable_test.ts"],
  },
  {
    id: "show-command",
    invariant: "the command of a plugin is not shown if it may be a secret",
    edits: edit(
      "lib/kube/credentials/exec_spec.ts",
      'if (isOdd) return "(not shown here)"; return quote(more.length === 0 ? name',
      "if (isOdd) return quote(name); return quote(more.length === 0 ? name",
    ),
    tests: ["test/kube/credentials/exec_spec_test.ts"],
  },
];
