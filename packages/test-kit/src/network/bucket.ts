/** A receiver that acts as a bucket, as far as Fantail uses one. */
import type { Receiver } from './receiver.ts'

/** Returns the objects by their paths. While the bucket is away it answers 503. */
export function actAsBucket(receiver: Receiver, isAway: () => boolean = () => false): Map<string, Buffer> {
  const objects = new Map<string, Buffer>()
  receiver.respond(
    () => true,
    ({ method, path, body }) => {
      if (isAway()) return { status: 503 }
      if (method === 'PUT') objects.set(path, Buffer.from(body))
      if (method === 'DELETE') return { status: objects.delete(path) ? 204 : 404 }
      const found = objects.get(path)
      return found ? { status: 200, body: method === 'GET' ? found : '' } : { status: 404 }
    },
  )
  return objects
}
