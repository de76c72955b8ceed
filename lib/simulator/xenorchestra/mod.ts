/**
 * A Xen Orchestra without a server: its REST API over HTTP on loopback, with all failures.
 * @module
 */
export { createDemoWorld, createFleet } from "./demo_world.ts";
export type { DemoHostName, DemoMachine, DemoWorld, StoryWorld } from "./demo_world.ts";
export type { Fault, FaultScope } from "./faults.ts";
export type { Collection, PowerState, VmOptions, World, XoRecord } from "./records.ts";
export { startXenOrchestraSimulator } from "./server.ts";
export type { XenOrchestraSimulator, XenOrchestraSimulatorOptions } from "./server.ts";
