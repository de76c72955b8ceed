/**
 * Every reader of outside text that is an expression or a loop: long rows of what it looks for take no time.
 * @module
 */
import { describe, expect } from "bun:test";
import { parseFlags } from "../../lib/cli/flags/mod.ts";
import { findValueProblem } from "../../lib/cli/flags/values.ts";
import { parseDuration, parseUuid } from "../../lib/core/text/values.ts";
import { parseCidr, parseIp } from "../../lib/core/net/ip.ts";
import {
  isLabelKey,
  isLabelValue,
  isSubdomain,
  parseLabelSelector,
  toLabelValue,
} from "../../lib/core/text/label.ts";
import { toPlainText } from "../../lib/core/text/printable.ts";
import { parseListenAddress } from "../../lib/core/net/listen_address.ts";
import { checkServer } from "../../lib/kube/credentials/mod.ts";
import { checkCertificates, decodePem } from "../../lib/kube/credentials/setting.ts";
import { parseConfig } from "../../lib/providers/static/settings.ts";
import { parseProviderId as parseStaticId } from "../../lib/providers/static/mod.ts";
import {
  explainToken,
  parseUrl,
  parseXenOrchestraConfig,
} from "../../lib/providers/xenorchestra/settings.ts";
import { parseProviderId } from "../../lib/providers/xenorchestra/identity.ts";
import { readExtent } from "../support/extent.ts";
import { measureCpuMs } from "../support/net/hostile.ts";
import { longTest } from "../support/long_tests.ts";

/** A quadratic reader needs seconds for so many characters, and minutes for a file as long as files may be. */
const LENGTH = 100_000;
/** Rows of these, with something at the end that makes what was found so far useless. */
const UNITS =
  '1|1.|1:|a|a.|a-|/|//|-|_|:|::|,|.|=|\\|[|(| |\n|\0|é|{|f|0|"|<|%|@|1s|-----BEGIN CERTIFICATE-----';
const ENDS = readExtent() === "all" ? ["", "!", "x", "\n"] : ["", "!"];

const place = { source: "f" };
const entry = (over: object): object => ({ instances: [{ id: "a", name: "a", ...over }] });
const number = { name: "n", type: "number", default: "", help: "", effect: "applies" } as const;

const READERS: readonly [string, (text: string) => unknown][] = [
  ["parseDuration()", parseDuration],
  ["parseIp()", parseIp],
  ["parseCidr()", parseCidr],
  ["isLabelKey()", isLabelKey],
  ["isLabelKey() of a prefix", (text) => isLabelKey(`${text}/a`)],
  ["isLabelValue()", isLabelValue],
  ["toLabelValue()", toLabelValue],
  ["isSubdomain()", isSubdomain],
  ["parseLabelSelector()", parseLabelSelector],
  ["parseLabelSelector() of values", (text) => parseLabelSelector(`a in (${text})`)],
  ["parseListenAddress()", parseListenAddress],
  ["toPlainText()", toPlainText],
  ["checkServer()", (text) => checkServer(`https://a/${text}`, place)],
  ["checkCertificates()", (pem) => checkCertificates({ pem, place })],
  ["decodePem()", (text) => decodePem(text, place)],
  ["parseFlags() of a flag", (text) => parseFlags([`--${text}`])],
  ["parseFlags() of a value", (text) => parseFlags([`--master=${text}`, "--v", text])],
  ["parseFlags() of a list", (text) => parseFlags([`--controllers=${text}`])],
  ["findValueProblem() of a number", (text) => findValueProblem(number, text)],
  ["parseUuid()", parseUuid],
  ["parseUuid() of a braced one", (text) => parseUuid(`{${text}}`)],
  ["parseProviderId()", (text) => parseProviderId(`xenorchestra://${text}`)],
  ["parseProviderId() of a scheme", parseProviderId],
  ["parseProviderId() of an inventory", (text) => parseStaticId("static", `static://${text}`)],
  ["explainToken()", explainToken],
  ["parseUrl()", (text) => parseUrl(`https://a/${text}`)],
  ["parseUrl() of a host", (text) => parseUrl(`https://${text}`)],
  ...["url", "token", "clientTimeout", "certificateFingerprint", "zoneLabelFrom"].map(
    (key): [string, (text: string) => unknown] => [
      `parseXenOrchestraConfig() of ${key}`,
      (text) => parseXenOrchestraConfig({ [key]: text }, {}),
    ],
  ),
  ["parseConfig() of an ID", (id) => parseConfig(entry({ id }))],
  ["parseConfig() of a scheme", (scheme) => parseConfig({ scheme, instances: [] })],
  ["parseConfig() of a label", (text) => parseConfig(entry({ labels: { [text]: text } }))],
  [
    "parseConfig() of an address",
    (address) => parseConfig(entry({ addresses: [{ type: "Hostname", address }] })),
  ],
];

describe("readers of outside text", () => {
  longTest.each(READERS)("%s reads a long row of anything in time", async (_name, read) => {
    const worst = { ms: 0, what: "" };
    for (const unit of UNITS.split("|")) {
      for (const end of ENDS) {
        const text = unit.repeat(Math.ceil(LENGTH / unit.length)) + end;
        const ms = await measureCpuMs(() => attempt(read, text));
        if (ms > worst.ms) Object.assign(worst, { ms, what: `${unit} … ${end}` });
      }
    }
    expect(worst.ms, worst.what).toBeLessThan(400);
  });
});

function attempt(read: (text: string) => unknown, text: string): void {
  try {
    read(text);
  } catch {
    // To refuse it is one way to be done with it.
  }
}
