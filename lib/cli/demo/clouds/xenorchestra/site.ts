/**
 * What the steps of the demo change in the simulated Xen Orchestra.
 * @module
 */
import type { StoryWorld, XenOrchestraSimulator } from "../../../../simulator/xenorchestra/mod.ts";

/** The server, and the names in its world. */
export interface XenOrchestraSite {
  readonly simulator: XenOrchestraSimulator;
  readonly world: StoryWorld;
}
