/**
 * What the Go controller for Xen Orchestra needed, and on what that was measured. Never beside our own figures: those
 * are of other servers and of another day.
 * @module
 */
import { toTable } from "../markdown.ts";

const FIGURES: readonly (readonly [figure: string, measured: string])[] = [
  ["resident, no Nodes", "55 MiB"],
  ["resident, 1,000 Nodes settled", "77 MiB"],
  ["resident, 5,000 Nodes settled", "144 MiB"],
  ["1,000 Nodes at once, until all are initialised", "148 s; 14.6 s with raised limits"],
  ["… requests to Xen Orchestra", "3,000"],
  ["one idle minute with 1,000 Nodes: requests to Xen Orchestra", "1,200"],
  ["… processor time", "0.5 s"],
  ["live migration until the labels are right", "179 s"],
  ["not Ready until the shutdown taint, VM long halted", "2.7 s"],
  ["VM deleted and Node not Ready until it is deleted", "3.3 s"],
];

/** The section of the page about performance. */
export function renderGoFigures(): string {
  return `## The Go controller

These figures are of v1.1.0, measured on another day and on other servers: a real kube-apiserver 1.36.2, and a real
xo-server 5.207.2 before a simulated hypervisor. The figures of Landfall above are of simulated servers. The two
were never measured together. Times, memory and processor time depend on the servers and on the machine, so compare
only their order of magnitude.

${toTable(["figure", "Go controller v1.1.0"], FIGURES)}`;
}
