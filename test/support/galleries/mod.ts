/**
 * The example controller: what hangs in a gallery is said by ConfigMaps with its label, and kept in a ConfigMap that
 * the gallery owns.
 * @module
 */
import {
  type ControllerContext,
  readFlag,
  type RunningController,
} from "../../../lib/controllers/definition.ts";
import { toEvent } from "../../../lib/kube/events/words.ts";
import type { Counter, MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { ReconcileResult } from "../../../lib/engine/workers.ts";
import { fromSecondary, ObjectLoop } from "../../../lib/engine/object_loop.ts";
import { isKubeError } from "../../../lib/kube/api/errors.ts";
import { type StoreReader, toKey } from "../../../lib/kube/cache/store.ts";
import {
  SYNCS_FLAG,
  CONFIG_MAPS,
  type ConfigMap,
  GALLERIES,
  type Gallery,
  type GallerySettings,
  EVENT_WORDS,
  FIELD_MANAGER,
  FINALIZER,
  GALLERY_LABEL,
  NAME,
} from "./gallery.ts";

/** Creates the controller for the registry. */
export function create(context: ControllerContext<GallerySettings>): GalleryController {
  return new GalleryController(context);
}

class GalleryController implements RunningController<GallerySettings> {
  readonly objects: StoreReader<Gallery>;
  readonly #context: ControllerContext<GallerySettings>;
  readonly #maps: StoreReader<ConfigMap>;
  readonly #loop: ObjectLoop<Gallery>;
  readonly #cataloguesWritten: Counter;
  #settings: GallerySettings;

  constructor(context: ControllerContext<GallerySettings>) {
    this.#context = context;
    this.#settings = context.settings;
    this.objects = context.caches.reader(GALLERIES);
    this.#maps = context.caches.reader(CONFIG_MAPS, { labelSelector: GALLERY_LABEL });
    this.#cataloguesWritten = registerMetrics(context.metrics).written;
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "galleries",
      noun: "gallery",
      objects: this.objects,
      workers: readFlag(context.flags, SYNCS_FLAG),
      inputs: ({ metadata }) => [
        metadata.generation,
        metadata.finalizers,
        metadata.deletionTimestamp,
      ],
      reconcile: (gallery, signal) => this.#reconcile(gallery, signal),
      forget: () => undefined,
      sources: [fromSecondary(this.#maps, (map) => [toGalleryKey(map)])],
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Uses other settings from now on: every catalogue is looked at again. */
  reconfigure(settings: GallerySettings): void {
    this.#settings = settings;
    this.#loop.enqueueAll();
  }

  describe(gallery: Gallery): object {
    const outcome = this.#loop.outcomes.get(toKey(gallery))?.outcome ?? null;
    return { paintings: this.#listPaintings(gallery), outcome };
  }

  async #reconcile(gallery: Gallery, signal: AbortSignal): Promise<ReconcileResult> {
    const { finalizers = [], deletionTimestamp } = gallery.metadata;
    const isKept = finalizers.includes(FINALIZER);
    if (deletionTimestamp === undefined) {
      if (!isKept) await this.#setFinalizers(gallery, [...finalizers, FINALIZER], signal);
      await this.#writeCatalogue(gallery, signal);
    } else if (isKept) {
      await this.#deleteCatalogue(gallery, signal);
      this.#context.events.record(gallery, toEvent(EVENT_WORDS.closed, "The catalogue is gone"));
      const others = finalizers.filter((one) => one !== FINALIZER);
      await this.#setFinalizers(gallery, others, signal);
    }
    return {};
  }

  /** The list is replaced whole, so nobody may have written it since. */
  async #setFinalizers(
    gallery: Gallery,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name, namespace = "", resourceVersion } = gallery.metadata;
    const body = { metadata: { finalizers, resourceVersion } };
    const { client } = this.#context;
    const patch = { type: "merge", body } as const;
    await client.patch(GALLERIES, { namespace, name }, patch, signal);
  }

  async #writeCatalogue(gallery: Gallery, signal: AbortSignal): Promise<void> {
    const { separator, most } = this.#settings;
    const { name, namespace = "", uid } = gallery.metadata;
    const paintings = this.#listPaintings(gallery).slice(0, most).join(separator);
    const path = { namespace, name: toCatalogueName(name) };
    if (this.#maps.get(toKey({ metadata: path }))?.data?.["paintings"] === paintings) return;
    const { apiVersion, kind } = GALLERIES;
    const body = {
      apiVersion: CONFIG_MAPS.apiVersion,
      kind: CONFIG_MAPS.kind,
      metadata: {
        ...path,
        labels: { [GALLERY_LABEL]: name },
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
      },
      data: { paintings },
    };
    // What somebody else wrote into the catalogue is put right.
    const patch = { type: "apply", body, fieldManager: FIELD_MANAGER, force: true } as const;
    await this.#context.client.patch(CONFIG_MAPS, path, patch, signal);
    this.#cataloguesWritten.inc();
    const said = toEvent(EVENT_WORDS.catalogued, `There are: ${paintings || "none"}`);
    this.#context.events.record(gallery, said);
  }

  async #deleteCatalogue(gallery: Gallery, signal: AbortSignal): Promise<void> {
    const { name, namespace = "" } = gallery.metadata;
    const path = { namespace, name: toCatalogueName(name) };
    const { uid } = this.#maps.get(toKey({ metadata: path }))?.metadata ?? {};
    if (uid === undefined) return;
    try {
      await this.#context.client.delete(CONFIG_MAPS, path, { uid }, signal);
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
    }
  }

  /** Names of the ConfigMaps that name the gallery; its own catalogue is none of them. */
  #listPaintings({ metadata: { name, namespace } }: Gallery): string[] {
    const maps = [...this.#maps.values()].filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.labels?.[GALLERY_LABEL] === name &&
        metadata.ownerReferences === undefined,
    );
    return maps.map(({ metadata }) => metadata.name).toSorted();
  }
}

function toCatalogueName(gallery: string): string {
  return `${gallery}-catalogue`;
}

/** A catalogue has the label, too: one that somebody changes or deletes is written again. */
function toGalleryKey({ metadata: { namespace, labels } }: ConfigMap): string {
  return `${namespace}/${labels?.[GALLERY_LABEL]}`;
}

/** Registers the metrics of the example controller. */
export function registerMetrics(registry: MetricsRegistry): { readonly written: Counter } {
  return {
    written: registry.counter({
      name: "example_catalogues_written_total",
      help: "Catalogues that were written.",
    }),
  };
}
