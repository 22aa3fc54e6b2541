/** Bounds of the objects that sinks make of records. */

/** @limit Records of one object of a stream. Past it: they go into another object. */
export const OBJECT_RECORDS_MAX = 2_000
/** @limit Bytes of one object of a stream, before compression. Past it: the records go into another object. */
export const OBJECT_BYTES_MAX = 5_242_880
/** @limit Time that the first record of an object waits for others. After it: the object is written. */
export const OBJECT_LINGER_MS = 1_000
