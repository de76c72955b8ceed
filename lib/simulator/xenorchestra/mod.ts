/**
 * A simulated Xen Orchestra: its REST API over HTTP on loopback, with its failures.
 * @module
 */
export { createDemoWorld, createFleet } from "./demo_world.ts";
export type { DemoWorld, StoryWorld } from "./demo_world.ts";
export type { DemoHostName } from "./demo_world.ts";
export type { Fault, FaultScope } from "./faults.ts";
export type { Collection, World, XoRecord } from "./records.ts";
export { startXenOrchestraSimulator } from "./server.ts";
export type { XenOrchestraSimulator, XenOrchestraSimulatorOptions } from "./server.ts";
export { createMachineSite } from "./demo_world.ts";
export type { MachineSite } from "./demo_world.ts";
export { XenOrchestra } from "./xenorchestra.ts";
export type { XenOrchestraOptions } from "./xenorchestra.ts";
