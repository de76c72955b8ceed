import { describe, expect, test } from "bun:test";
import { PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";

const NAMES = PROVIDERS.map(({ name }) => name);

describe("requireProvider()", () => {
  test("finds each provider by its name", async () => {
    expect(NAMES).toEqual(expect.arrayContaining(["xenorchestra", "static"]));
    for (const name of NAMES) expect((await requireProvider(name)).name).toBe(name);
  });

  test("names those there are for a name that nobody has", async () => {
    for (const name of ["", "Static", "aws"]) {
      await expect(requireProvider(name)).rejects.toThrow(
        `--cloud-provider: unknown provider "${name}" (known: ${NAMES.join(", ")})`,
      );
    }
  });
});
