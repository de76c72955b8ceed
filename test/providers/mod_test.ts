import { describe, expect, test } from "bun:test";
import { PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";

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
    for (const name of ["", "Static", "aws"]) {
      await expect(requireProvider(name)).rejects.toThrow(
        `--cloud-provider: unknown provider "${name}" (known: ${NAMES.join(", ")})`,
      );
    }
  });
});
