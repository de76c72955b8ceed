/**
 * A CloudStack without a server: its API over HTTP on loopback, with all failures.
 * @module
 */
export type { DemoMachine } from "../demo_machine.ts";
export { createDemoWorld, createFleet } from "./demo_world.ts";
export type { StoryWorld } from "./demo_world.ts";
export type { Fault, FaultScope } from "./faults.ts";
export { startCloudStackSimulator } from "./server.ts";
export type { CloudStackSimulator } from "./server.ts";
export type { Settings } from "./settings.ts";
export type { Vm, VmState, World } from "./world/records.ts";
