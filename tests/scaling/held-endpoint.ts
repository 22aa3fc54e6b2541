/** An endpoint that answers nobody until it is released, so that attempts are in flight when their worker goes. */
import type { ReceivedRequest, Receiver } from '@fantail/test-kit'

export interface HeldEndpoint {
  requests(): ReceivedRequest[]
  /** Answers what waits, and from now on whatever comes. Returns the time of it, as requests have theirs. */
  release(): number
  /** Of the requests after `since`: those of a message that had come before, and those of one that had not. */
  since(since: number): { again: ReceivedRequest[]; first: ReceivedRequest[] }
}

export function holdEndpoint(receiver: Receiver, path: string): HeldEndpoint {
  const released = Promise.withResolvers<void>()
  receiver.respond((request) => request.path.startsWith(path), { until: released.promise })
  const requests = () => receiver.requestsTo((request) => request.path.startsWith(path))
  const key = ({ path, text }: ReceivedRequest) => `${path} ${text}`
  return {
    requests,
    release() {
      released.resolve()
      return performance.timeOrigin + performance.now()
    },
    since(since) {
      const before = new Set(
        requests()
          .filter(({ at }) => at <= since)
          .map(key),
      )
      const later = requests().filter(({ at }) => at > since)
      return {
        again: later.filter((request) => before.has(key(request))),
        first: later.filter((request) => !before.has(key(request))),
      }
    },
  }
}
