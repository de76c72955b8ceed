import { describe, expect, test } from "bun:test";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import { Fence } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { loadProviders, PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";

const NAMES = PROVIDERS.map(({ name }) => name);

describe("requireProvider()", () => {
  test("finds each provider by its name", async () => {
    expect(NAMES).toEqual(expect.arrayContaining(["xenorchestra", "static"]));
    for (const name of NAMES) expect((await requireProvider(name)).name).toBe(name);
  });

  test("finds a provider by an alias", async () => {
    const [first] = PROVIDERS;
    const registry = [{ ...first, aliases: ["xo"] }] as const;
    expect((await requireProvider("xo", registry)).name).toBe("xenorchestra");
    await expect(requireProvider("xoa", registry)).rejects.toThrow("(known: xenorchestra)");
  });

  test("finds a provider by its other name", async () => {
    expect((await requireProvider("cloudstack")).name).toBe("external-cloudstack");
  });

  test("names those there are for a name that nobody has", async () => {
    for (const [name, hint = ""] of [[""], ["Static", "; did you mean static?"], ["aws"]]) {
      await expect(requireProvider(name ?? "")).rejects.toThrow(
        `--cloud-provider: unknown provider "${name}"${hint} (known: ${NAMES.join(", ")})`,
      );
    }
  });
});

test("a cloud refuses address pools exactly if it has load balancers", async () => {
  const stop = new AbortController();
  for (const definition of await loadProviders()) {
    const { settings, issues } = definition.parseConfig(definition.docs.example, {});
    expect(issues).toEqual([]);
    const provider = definition.create(settings, {
      clock: new ManualClock(),
      log: silentLogger,
      metrics: new MetricsRegistry(),
      signal: stop.signal,
      fence: new Fence(),
    });
    const refused = Object.keys(definition.refusedSettings ?? {});
    const pools = ["pools", "announce"].map((key) => `${LOAD_BALANCERS.key}.${key}`);
    const wanted = provider.loadBalancers === undefined ? [] : pools;
    expect([definition.name, refused]).toEqual([definition.name, wanted]);
  }
  stop.abort(new Error("the test is over"));
});
