/**
 * Input and output shapes of operations, as far as the wire needs them. Query requests name members by path without
 * types, and XML needs element names. Members have the names of the service's model.
 */
export type Shape = 'string' | 'boolean' | 'integer' | 'blob' | ListShape | MapShape | StructShape

export interface ListShape {
  list: Shape
  /** Flattened, as SQS's Query protocol has it: `Name.1`, repeated elements of this name; else `Member.member.1`. */
  flat?: string
}

export interface MapShape {
  map: Shape
  /** Names of an entry's members; default `key` and `value`. */
  entry?: { key: string; value: string }
  /** Flattened: `Attribute.1.Name`; else `Attributes.entry.1.key`. */
  flat?: string
}

export interface StructShape {
  struct: Record<string, Shape>
}
