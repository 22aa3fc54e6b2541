/** Bounds of the objects in which sinks store records. */

/** @limit Records of one object of a stream. Past it: they go into another object. */
export const OBJECT_RECORDS_MAX = 2_000
/** @limit Bytes of one object of a stream, before compression. Past it: the records go into another object. */
export const OBJECT_BYTES_MAX = 5_242_880
/**
 * @limit Time that the first record of an object waits for others, if the stream's URL names none. After it: the object
 * is written.
 */
const OBJECT_LINGER_MS_DEFAULT = 1_000
/** @limit Time that the URL of a stream's objects may let records wait (`seconds`). Past it: the time is cut. */
const OBJECT_LINGER_MS_MAX = 300_000

/** By the operator's URL: `?seconds=60`. */
export function objectLingerMs({ searchParams }: Pick<URL, 'searchParams'>): number {
  const seconds = searchParams.get('seconds')
  if (seconds === null || !/^\d+(\.\d+)?$/.test(seconds)) return OBJECT_LINGER_MS_DEFAULT
  return Math.min(1_000 * Number(seconds), OBJECT_LINGER_MS_MAX)
}
