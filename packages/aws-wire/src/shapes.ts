/**
 * What an operation takes and answers, as far as the wire must know it: Query requests name members by path and leave
 * types open, XML needs element names. Members stand under the names of the service's model.
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
