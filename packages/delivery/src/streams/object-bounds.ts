/** Bounds of the objects that sinks make of records. */

/** @limit Records of one object of a stream. Past it: they go into another object. */
export const OBJECT_RECORDS_MAX = 2_000
/** @limit Bytes of one object of a stream, before compression. Past it: the records go into another object. */
export const OBJECT_BYTES_MAX = 5_242_880
