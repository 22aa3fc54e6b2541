import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import { DISPATCH_QUEUES_MAX } from '../keys/slots.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'

/** Numbers of all existing streams of the outcome log. FANTAIL_QUEUES may have had another value before. */
export async function existingStreams(redis: Redis): Promise<number[]> {
  const looks = batch(redis)
  for (let number = 0; number < DISPATCH_QUEUES_MAX; number++) looks.exists(outcomeLogKey(number))
  return (await replies(looks)).flatMap((exists, number) => (exists === 1 ? [number] : []))
}
