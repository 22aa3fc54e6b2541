/** A webhook receiver for the tests of a file. */
import { type Receiver, startReceiver } from '@fantail/test-kit'
import { afterAll, beforeAll } from 'vitest'

export function useReceiver(): () => Receiver {
  let receiver: Receiver | undefined
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver?.close())
  return () => {
    if (!receiver) throw new Error('the receiver runs in tests and hooks only')
    return receiver
  }
}
