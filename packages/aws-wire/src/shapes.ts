/**
 * Input and output shapes of operations, with only the facts that the protocols need. Query requests name members by
 * path without types, and XML needs element names. Members have the names of the service's model.
 */
export type Shape = 'string' | 'boolean' | 'integer' | 'blob' | ListShape | MapShape | StructShape

export interface ListShape {
  list: Shape
  /**
   * The list is flattened, as in SQS's Query protocol: `Name.1`, and repeated elements of this name. Absent:
   * `Member.member.1`.
   */
  flat?: string
}

export interface MapShape {
  map: Shape
  /** Names of an entry's members; default `key` and `value`. */
  entry?: { key: string; value: string }
  /** The map is flattened: `Attribute.1.Name`. Absent: `Attributes.entry.1.key`. */
  flat?: string
}

export interface StructShape {
  struct: Record<string, Shape>
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Undefined if the text is not Base64 with its padding. Node's own decoder would accept any text. */
export function fromBase64(text: string): Buffer | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
}
