/**
 * Keeps the lists of Nodes that may get traffic of load balancers: one for each choice that Services make.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { remember } from "../../core/maps.ts";
import type { LabelSelector } from "../../core/text/label.ts";
import type { Service } from "../../kube/kinds/service.ts";
import type { NodeCloud } from "../node_context.ts";
import {
  type Candidate,
  changesBackends,
  isBackendNode,
  needsUpdate,
  type NodeReading,
  type NodeSet,
  parseNodeSelector,
  readSelectorText,
  selectNodes,
  toCandidates,
} from "./node_set.ts";

/** What {@linkcode Backends} need. */
interface BackendsOptions {
  readonly cloud: NodeCloud;
  readonly clock: Clock;
}

/** What Services with one selector choose. */
interface Chosen {
  readonly selector: LabelSelector;
  /** What it was chosen from. */
  readonly of: readonly Candidate[];
  readonly set: NodeSet;
}

/** Texts of users are many, and each needs a list of all Nodes. More only cost time. */
const SELECTORS_MAX = 100;
/**
 * How long the cloud must not show the machine of a Ready Node before Services name it. A new Node waits for an
 * inventory, and Kubernetes notices only after 50 s that a machine is gone.
 */
const LASTING_MS = 60_000;

/** The Nodes of all load balancers. Reads Nodes and instances only after a change. */
export class Backends {
  readonly #options: BackendsOptions;
  /** By the names of the Nodes. */
  #candidates: readonly Candidate[] = [];
  /** Whether a Node or the inventory changed. */
  #isStale = true;
  /** By the text of the selector. */
  readonly #chosen = new Map<string, Chosen>();
  /** Since when the cloud has not shown the machine of a Node, in monotonic milliseconds. */
  #absentSinceMs: ReadonlyMap<string, number> = new Map();

  constructor(options: BackendsOptions) {
    this.#options = options;
  }

  /** The Nodes for a Service now. Its lists are the same arrays as long as nothing of them changes. */
  find(service: Service): NodeReading {
    // Address pools send no traffic to Nodes.
    const isMeant = this.#options.cloud.provider.loadBalancers !== undefined;
    const text = isMeant ? readSelectorText(service) : "";
    const parsed = parseNodeSelector(text);
    return "problem" in parsed ? parsed : this.#choose(text, parsed.selector);
  }

  /** The IDs of the instances of all backends, as far as they are known. The same set while nothing changes. */
  get instanceIds(): ReadonlySet<string> {
    return this.#choose("", []).instanceIds;
  }

  /**
   * Follows Nodes and the inventory from now on.
   *
   * @param onChange Called when load balancers may need other backends, or when the cloud shows something else of the
   * machine of a Node
   * @returns The function that ends this
   */
  follow(onChange: () => void): () => void {
    const { nodes, source, provider } = this.#options.cloud;
    let isStarted = false;
    const endNodes = nodes.subscribe((_key, before, after) => {
      const isRelabelled = !isDeepStrictEqual(before?.metadata.labels, after?.metadata.labels);
      const isChanged = changesBackends(before, after) || (isRelabelled && this.#hasChoices());
      const wasBackend = before !== undefined && isBackendNode(before);
      // What leaves without a reason for a pass is left out by the next plan. A choice may come later than its labels.
      if (
        isChanged ||
        isRelabelled ||
        wasBackend !== (after !== undefined && isBackendNode(after))
      ) {
        this.#isStale = true;
      }
      if (isChanged && isStarted) onChange();
    });
    isStarted = true;
    // Address pools ask nothing about machines.
    if (provider.loadBalancers === undefined) return endNodes;
    const endSource = source.subscribe((changed) => {
      // What is absent may last by now.
      const isQuiet = changed !== "everything" && changed.size === 0;
      if (isQuiet && this.#absentSinceMs.size === 0) return;
      this.#isStale = true;
      const needsPass = [...this.#chosen].some(([text, { selector, set }]) =>
        needsUpdate(set, this.#choose(text, selector)),
      );
      if (needsPass) onChange();
    });
    return () => {
      endNodes();
      endSource();
    };
  }

  #choose(text: string, selector: LabelSelector): NodeSet {
    const of = this.#list();
    const known = this.#chosen.get(text);
    if (known?.of === of) return known.set;
    const set = keepSame(known?.set, selectNodes(of, selector));
    remember(this.#chosen, text, { selector, of, set }, SELECTORS_MAX);
    return set;
  }

  #list(): readonly Candidate[] {
    if (this.#isStale) this.#candidates = this.#read();
    this.#isStale = false;
    return this.#candidates;
  }

  #read(): readonly Candidate[] {
    const { nodes, provider, presences } = this.#options.cloud;
    const candidates = toCandidates(nodes.values(), {
      toInstanceId: provider.toInstanceId?.bind(provider),
      findPresence: (node) => presences.find(node),
    });
    const nowMs = this.#options.clock.monotonic();
    const before = this.#absentSinceMs;
    const absent = candidates.filter(({ member }) => member?.why !== undefined);
    const since = new Map(absent.map(({ nodeName }) => [nodeName, before.get(nodeName) ?? nowMs]));
    this.#absentSinceMs = since;
    return candidates.map((one) => {
      const { member } = one;
      const isTooNew = nowMs - (since.get(one.nodeName) ?? -Infinity) < LASTING_MS;
      if (member === undefined || !isTooNew) return one;
      const { why: _early, ...rest } = member;
      return { ...one, member: rest };
    });
  }

  /** Whether a Service chooses its Nodes by their labels. */
  #hasChoices(): boolean {
    return this.#chosen.keys().some((text) => text !== "");
  }
}

/** The new set, with the lists of the old one if nothing of its Nodes changed. */
function keepSame(before: NodeSet | undefined, next: NodeSet): NodeSet {
  if (before === undefined || !isDeepStrictEqual(before.members, next.members)) return next;
  const { members, backends, instanceIds } = before;
  return { ...next, members, backends, instanceIds };
}
