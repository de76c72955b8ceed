/**
 * The deterministic simulation: the whole program, twice, in a world made of one seed.
 *
 * Everything is real from the composition root to the edge of the sockets: the controllers, the election, the clients,
 * the provider. In the place of the outside stand an API server, a cloud and a network in memory, on one
 * timeline, with one source of chance. A seed draws what happens; {@linkcode Invariants} judges each request as it is
 * sent and each change as it is made; in the end all faults stop, and everything must come right within a bounded time.
 *
 * | file | what it is |
 * |---|---|
 * | story.ts | one seed from its beginning to its end |
 * | world/ | everything a story happens to, whatever the cloud; cloud.ts is what it needs of one |
 * | xenorchestra/, cloudstack/ | the clouds: what may happen to each, what is true in it, what proves absence there |
 * | script.ts | what stories of one cloud are made of |
 * | cloudstack/services/ | Services of type LoadBalancer: what people do to them and beside them, and their judges |
 * | sipcluster/ | SIPClusters: stories of their own with hosts, metal3 and Cluster API, and crashes at each write |
 * | vino/ | Vinos: stories of their own with a Xen Orchestra that makes VMs, metal3, Ironic and Cluster API |
 * | scenarios/ | stories with a name and fixed steps in the place of drawn ones |
 * | steps/ | what may happen to Nodes, the API server, processes, networks and settings |
 * | judges/ | what must never happen, what a process may honestly believe, and what must be true in the end |
 * | timeline.ts, trace.ts | time, and what happened |
 *
 * A seed is many short things, none of them hot: the profile is flat, and a fifth of the processor time of a thousand
 * seeds was the last tier of the compiler (FTL), which does not pay for itself in two minutes: `npm test` goes without.
 * @module
 */
export { runSipStory } from "./sipcluster/story.ts";
export { describeFailure, type Ending } from "./ending.ts";
export { findTelling, type Wanted } from "./scenarios/find.ts";
export { TELLINGS } from "./scenarios/mod.ts";
export { runStory } from "./story.ts";
export { runVinoStory } from "./vino/story.ts";
