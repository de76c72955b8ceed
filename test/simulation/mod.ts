/**
 * The deterministic simulation: the whole program, twice, in a world made of one seed.
 *
 * Everything is real from the composition root to the edge of the sockets: the controllers, the election, the clients,
 * the provider. In the place of the outside stand an API server, a Xen Orchestra and a network in memory, on one
 * timeline, with one source of chance. A seed draws what happens; {@linkcode Invariants} judges each request as it is
 * sent and each change as it is made; in the end all faults stop, and everything must come right within a bounded time.
 *
 * | file | what it is |
 * |---|---|
 * | story.ts | one seed from its beginning to its end |
 * | world.ts | everything a story happens to |
 * | *_steps.ts | what may happen: to machines, Nodes, the cloud, the API server, processes and networks |
 * | invariants.ts, node_writes.ts, deletion_proofs.ts, fleet_judge.ts, stay_judge.ts | what must never happen |
 * | known_truth.ts | what a process may honestly believe of machines |
 * | settings_file.ts | what people tell the processes, and may change while they run |
 * | calm.ts, truth.ts | what must be true in the end |
 * | timeline.ts, process.ts, link.ts, surroundings.ts | time, an operating system, a network, chance |
 *
 * A seed is many short things, none of them hot: the profile is flat, and a fifth of the processor time of a thousand
 * seeds was the last tier of the compiler (FTL), which does not pay for itself in two minutes: `npm test` goes without.
 * @module
 */
export { type Ending, runStory } from "./story.ts";
