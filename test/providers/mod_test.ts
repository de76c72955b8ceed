import { describe, expect, test } from "bun:test";
import { findProvider, PROVIDERS } from "../../lib/providers/mod.ts";

describe("findProvider()", () => {
  test("finds each provider by its name", () => {
    expect(PROVIDERS.map(({ name }) => name)).toEqual(["xenorchestra", "static"]);
    for (const provider of PROVIDERS) expect(findProvider(provider.name)).toBe(provider);
  });

  test("finds nothing under a name that nobody has", () => {
    for (const name of ["", "Static", "aws"]) expect(findProvider(name)).toBeUndefined();
  });
});
