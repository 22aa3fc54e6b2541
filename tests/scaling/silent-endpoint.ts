/** An endpoint that does not answer until it is released, so that attempts are in flight when their worker ends. */
import { type ReceivedRequest, type Receiver, steadyNow } from '@fantail/test-kit'

export interface SilentEndpoint {
  requests(): ReceivedRequest[]
  /**
   * Answers all waiting requests, and from now on every request. Returns the time by the same clock as the times of
   * requests.
   */
  release(): number
  /**
   * The requests after `since`. `again`: for messages that had come before, or were `claimed`. `first`: for all others.
   * `claimed`: each as `<path> <message id>`.
   */
  since(since: number, claimed?: ReadonlySet<string>): { again: ReceivedRequest[]; first: ReceivedRequest[] }
}

export function holdEndpoint(receiver: Receiver, path: string): SilentEndpoint {
  const released = Promise.withResolvers<void>()
  receiver.respond((request) => request.path.startsWith(path), { until: released.promise })
  const requests = () => receiver.requestsTo((request) => request.path.startsWith(path))
  const key = ({ path, text }: ReceivedRequest) => `${path} ${text}`
  return {
    requests,
    release() {
      released.resolve()
      return steadyNow()
    },
    since(since, claimed) {
      const before = new Set(
        requests()
          .filter(({ at }) => at <= since)
          .map(key),
      )
      const isAgain = (request: ReceivedRequest) =>
        before.has(key(request)) || claimed?.has(`${request.path} ${request.headers['x-amz-sns-message-id']}`)
      const later = requests().filter(({ at }) => at > since)
      return { again: later.filter(isAgain), first: later.filter((request) => !isAgain(request)) }
    },
  }
}
