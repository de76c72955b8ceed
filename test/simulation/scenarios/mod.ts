/**
 * All named scenarios.
 * @module
 */
import * as cs from "./cloudstack/mod.ts";
import * as services from "./services/mod.ts";
import type { Telling } from "./scenario.ts";
import * as sipclusters from "./sipclusters/mod.ts";
import * as vinos from "./vinos/mod.ts";
import * as xo from "./xenorchestra/mod.ts";

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = [xo, cs, services, vinos, sipclusters].flatMap(
  (one) => one.TELLINGS,
);
