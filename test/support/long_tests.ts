/**
 * Tests that only CI runs.
 * @module
 */
import { test } from "bun:test";
import { readExtent } from "./extent.ts";

/**
 * A test that takes long: of thousands of things, of endless answers, of every point at which a process can end; and
 * tests of what judges tests.
 */
export const longTest: typeof test = test.skipIf(readExtent() === "some");
