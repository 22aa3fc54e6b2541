/** Ids of a stream's elements: the ms of Redis at which they were added, and their number within it. */

type StreamId = [ms: number, sequence: number]

export function readStreamId(id: string | Buffer): StreamId {
  const [ms, sequence] = String(id).split('-')
  return [Number(ms), Number(sequence ?? 0)]
}

/** Orders the ids of one stream or several by their age, oldest first. */
export function byStreamId([aMs, aSequence]: StreamId, [bMs, bSequence]: StreamId): number {
  return aMs - bMs || aSequence - bSequence
}
