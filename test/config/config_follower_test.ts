/**
 * A file of settings that changes: what is put to use, what is refused, and what is told of it.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { type ConfigOutcome, followConfig } from "../../lib/config/config_follower.ts";
import {
  loadProviderConfig,
  type ProviderConfig,
  toSectionParser,
} from "../../lib/config/provider_config.ts";
import { ConfigError, formatConfigIssue } from "../../lib/core/errors.ts";
import { INI_SYNTAX } from "../../lib/providers/cloudstack/settings/ini_syntax.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import type { XenOrchestraSettings } from "../../lib/providers/xenorchestra/settings.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { SecretMount } from "../support/process/secret_mount.ts";

const GOOD = "url: https://xo.example.org\ntoken: canary\n";
const ENV = { XOA_INSECURE: "true" };
const sections = [DELETION];

interface Bench extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly applied: ProviderConfig<XenOrchestraSettings>[];
  readonly outcomes: ConfigOutcome[];
  /** What the last refusal says, an issue a line. */
  readonly refusal: string;
  apply: (config: ProviderConfig<XenOrchestraSettings>) => void;
  /** Changes the file; what comes of that within 20 s is there then. */
  write(text: string): Promise<void>;
}

let mount: SecretMount;
let path: string;
beforeEach(() => {
  mount = new SecretMount({ "config.yaml": GOOD });
  path = mount.path("config.yaml");
});
afterEach(() => mount[Symbol.dispose]());

/** @param parser Whose file it is; settings that the environment has need not be there */
async function follow(
  env: Readonly<Record<string, string>> = ENV,
  parser: typeof xenOrchestra = xenOrchestra,
): Promise<Bench> {
  const stop = new AbortController();
  // Reading a file takes a moment: time waits until the follower sleeps.
  const clock: ManualClock = new ManualClock(0, async () => {
    while (clock.pending === 0 && !stop.signal.aborted) await Bun.sleep(0);
  });
  const applied: ProviderConfig<XenOrchestraSettings>[] = [];
  const outcomes: ConfigOutcome[] = [];
  const source = { path, env, definition: parser, sections };
  const current = await loadProviderConfig(source);
  const bench = {
    clock,
    applied,
    outcomes,
    apply: (config: ProviderConfig<XenOrchestraSettings>): unknown => applied.push(config),
    get refusal(): string {
      const last = outcomes.at(-1);
      return last?.kind === "refused" ? last.issues.map(formatConfigIssue).join("\n") : "";
    },
    write(text: string): Promise<void> {
      mount.update({ "config.yaml": text });
      return clock.advance(20_000);
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await running;
      expect(JSON.stringify(outcomes)).not.toContain("canary");
    },
  };
  const apply = (config: ProviderConfig<XenOrchestraSettings>): void => void bench.apply(config);
  const onOutcome = (outcome: ConfigOutcome): unknown => outcomes.push(outcome);
  const running = followConfig({ ...source, current, apply, onOutcome, clock }, stop.signal);
  await clock.advance(1_000);
  return bench;
}

describe("followConfig()", () => {
  test("puts a good change to use within 20 s, when a mount switches its link", async () => {
    await using bench = await follow();
    await bench.write(`${GOOD}refreshInterval: 5s\ndeletion: { enabled: false }\n`);
    expect(bench.outcomes.map(({ kind }) => kind)).toEqual(["applied"]);
    const [config] = bench.applied;
    expect(config?.settings).toMatchObject({ refreshIntervalMs: 5_000, insecure: true });
    expect(config?.sections.get("deletion")).toMatchObject({ enabled: false });
  });

  test("says nothing of a file that stays, or whose comments change", async () => {
    await using bench = await follow();
    await bench.clock.advance(60_000);
    mount.update({ "config.yaml": `# what a nice day\n${GOOD}` });
    await bench.clock.advance(60_000);
    expect(bench.outcomes).toEqual([]);
  });

  test("follows a file that is written in place or renamed into place", async () => {
    await using bench = await follow();
    rmSync(path);
    writeFileSync(path, `${GOOD}refreshInterval: 5s\n`);
    await bench.clock.advance(20_000);
    writeFileSync(`${path}.new`, `${GOOD}refreshInterval: 6s\n`);
    renameSync(`${path}.new`, path);
    await bench.clock.advance(20_000);
    const intervals = bench.applied.map(({ settings }) => settings.refreshIntervalMs);
    expect(intervals).toEqual([5_000, 6_000]);
  });

  test("lets a change that is still being written come to its end", async () => {
    await using bench = await follow();
    await bench.clock.advance(8_999);
    writeFileSync(path, "url: https://half");
    await bench.clock.advance(1_000);
    writeFileSync(path, `${GOOD}refreshInterval: 5s\n`);
    await bench.clock.advance(2_000);
    expect(bench.outcomes.map(({ kind }) => kind)).toEqual(["applied"]);
  });

  test("refuses a bad change with every problem and its line, and no value", async () => {
    await using bench = await follow();
    await bench.write("url: canary\ntoken: canary\nrefreshInterval: canary\ninsecure: canary\n");
    expect(bench.applied).toEqual([]);
    expect(bench.refusal).toContain(`${path}:1:1: url: has no scheme`);
    expect(bench.refusal).toContain(`${path}:3:1: refreshInterval: must be a duration`);
    expect(bench.refusal).toContain(`${path}:4:1: insecure: must be true or false`);
  });

  test.each([
    ["is no YAML", "url: [canary", ":1:"],
    ["has no url", "token: canary\n", "url: required"],
    ["is empty", "", "a token (token, tokenFile"],
  ])("refuses a file that %s", async (_title, text, problem) => {
    await using bench = await follow();
    await bench.write(text);
    expect(bench.refusal).toContain(problem);
    expect(bench.applied).toEqual([]);
  });

  test("puts a change in YAML to use where the cloud has a syntax of its own, too", async () => {
    await using bench = await follow(ENV, { ...xenOrchestra, syntax: INI_SYNTAX });
    await bench.write(`${GOOD}refreshInterval: 5s\n`);
    expect(bench.refusal).toBe("");
    expect(bench.applied.map(({ settings }) => settings.refreshIntervalMs)).toEqual([5_000]);
  });

  test.each([
    ["of a process without a cloud", {}, toSectionParser(xenOrchestra)],
    [
      "whose cloud the environment describes",
      { XOA_URL: "https://xo", XOA_TOKEN: "canary" },
      xenOrchestra,
    ],
  ])("refuses a file that has no settings any more, %s", async (_title, env, parser) => {
    const kept = "deletion: { enabled: false }\n";
    mount.update({ "config.yaml": kept });
    await using bench = await follow(env, parser);
    for (const text of ["", " \n", `# ${kept}`, "{}\n"]) {
      await bench.write(text);
      expect(bench.refusal).toBe(
        `${path}: there are no settings in the file any more; to use the defaults, restart Landfall`,
      );
    }
    expect(bench.applied).toEqual([]);
    await bench.write(kept);
    expect(bench.outcomes.at(-1)).toEqual({ kind: "withdrawn" });
    await bench.write("deletion: {}\n");
    expect(bench.applied.map(({ sections: all }) => all.get("deletion"))).toEqual([
      DELETION.standard,
    ]);
  });

  test("says nothing of a file that has had no settings from the start", async () => {
    mount.update({ "config.yaml": "" });
    await using bench = await follow({}, toSectionParser(xenOrchestra));
    mount.update({ "config.yaml": "# nothing yet\n" });
    await bench.clock.advance(60_000);
    expect(bench.outcomes).toEqual([]);
    await bench.write("deletion: { enabled: false }\n");
    expect(bench.applied).toHaveLength(1);
  });

  test("refuses what cannot be applied, with the line of what is to blame", async () => {
    await using bench = await follow();
    bench.apply = () => {
      throw new ConfigError([{ path: "caFile", message: "/ca: cannot be read" }]);
    };
    await bench.write(`${GOOD}caFile: /ca\n`);
    expect(bench.refusal).toBe(`${path}:3:1: caFile: /ca: cannot be read`);
  });

  test("takes what was refused for a file that it names once that file is there", async () => {
    await using bench = await follow();
    const { apply } = bench;
    let problem = "/ca: cannot be read: there is no such file";
    bench.apply = () => {
      throw new ConfigError([{ path: "caFile", message: problem }]);
    };
    mount.update({ "config.yaml": `${GOOD}caFile: /ca\n` });
    await bench.clock.advance(600_000);
    expect(bench.outcomes).toHaveLength(1);
    problem = "/ca: contains no certificate in PEM form";
    await bench.clock.advance(600_000);
    expect(bench.outcomes).toHaveLength(2);
    expect(bench.refusal).toBe(`${path}:3:1: caFile: ${problem}`);
    bench.apply = apply;
    await bench.clock.advance(20_000);
    expect(bench.outcomes.slice(2)).toMatchObject([{ kind: "applied" }]);
    expect(bench.applied.at(-1)?.settings.caFile).toBe("/ca");
    await bench.clock.advance(3_600_000);
    expect(bench.outcomes).toHaveLength(3);
  });

  test("tells what is refused once, again each hour, and that it is over", async () => {
    await using bench = await follow();
    rmSync(path);
    await bench.clock.advance(3_580_000);
    expect(bench.outcomes).toHaveLength(1);
    expect(bench.refusal).toBe(`${path}: Cannot read the file: there is no such file`);
    await bench.clock.advance(60_000);
    expect(bench.outcomes).toHaveLength(2);
    writeFileSync(path, GOOD);
    await bench.clock.advance(20_000);
    expect(bench.outcomes.at(-1)).toEqual({ kind: "withdrawn" });
    await bench.clock.advance(3_600_000);
    expect(bench.outcomes).toHaveLength(3);
    expect(bench.applied).toEqual([]);
  });

  test("takes a good change after a refused one, and passes its warnings on", async () => {
    await using bench = await follow();
    await bench.write("token: canary");
    await bench.write(`${GOOD}refreshInterval: 5s\ninsecure: true\ncaFile: /canary\n`);
    expect(bench.outcomes.at(-1)).toMatchObject({
      kind: "applied",
      warnings: [
        { path: "insecure", line: 4, message: "caFile has no effect with insecure: true" },
      ],
    });
  });
});
