/**
 * CustomResourceDefinitions, and the schemas in them.
 * @module
 */

/** A CustomResourceDefinition with one version. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
    };
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: true;
        readonly storage: true;
        /** Empty: the kind has no status. */
        readonly subresources: { readonly status?: object };
        readonly additionalPrinterColumns: readonly PrinterColumn[];
        readonly schema: { readonly openAPIV3Schema: OpenApiSchema };
      },
    ];
  };
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "date" | "integer" | "string";
  readonly jsonPath: string;
  readonly description: string;
  /** With 1, only `kubectl get -o wide` shows it. @default 0 */
  readonly priority?: 0 | 1;
}

/** A structural schema, as far as the reference page reads it. */
export interface OpenApiSchema {
  readonly type: string;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  /** The schema of a map's values. */
  readonly additionalProperties?: OpenApiSchema;
  readonly enum?: readonly unknown[] | undefined;
  readonly default?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly maxItems?: number | undefined;
  /** Whether an object may have fields that are not described. */
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-validations"?: readonly {
    readonly rule: string;
    readonly message: string;
  }[];
}
