import { describe, expect, test } from "bun:test";
import { PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";

describe("requireProvider()", () => {
  test("finds each provider by its name", async () => {
    expect(PROVIDERS.map(({ name }) => name)).toEqual(["xenorchestra", "static"]);
    for (const { name } of PROVIDERS) expect((await requireProvider(name)).name).toBe(name);
  });

  test("names those there are for a name that nobody has", async () => {
    for (const name of ["", "Static", "aws"]) {
      await expect(requireProvider(name)).rejects.toThrow(
        `--cloud-provider: there is no provider "${name}": give one of xenorchestra, static`,
      );
    }
  });
});
