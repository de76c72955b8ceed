import { describe, expect, test } from "bun:test";
import { PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";

describe("requireProvider()", () => {
  test("finds each provider by its name", () => {
    expect(PROVIDERS.map(({ name }) => name)).toEqual(["xenorchestra", "static"]);
    for (const provider of PROVIDERS) expect(requireProvider(provider.name)).toBe(provider);
  });

  test("names those there are for a name that nobody has", () => {
    for (const name of ["", "Static", "aws"]) {
      expect(() => requireProvider(name)).toThrow(
        `--cloud-provider: there is no provider "${name}": give one of xenorchestra, static`,
      );
    }
  });
});
