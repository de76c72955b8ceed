import { describe, expect, test } from "bun:test";
import { Memory } from "../../../lib/providers/xenorchestra/memory.ts";

describe("Memory", () => {
  test("knows the pools that were ever shown, with their last names", () => {
    const memory = new Memory();
    memory.rememberPool("a", "Paris");
    memory.rememberPool("b", "Lyon");
    memory.rememberPool("a", "Paris 2");
    expect([...memory.knownPools]).toEqual([
      ["b", "Lyon"],
      ["a", "Paris 2"],
    ]);
  });

  test("forgets that there was no VM of a UUID when there is one", () => {
    const memory = new Memory();
    memory.rememberNoVm("uuid", true);
    expect(memory.isNoVm("uuid")).toBe(true);
    memory.rememberNoVm("uuid", false);
    expect(memory.isNoVm("uuid")).toBe(false);
  });
});
