import { expect, test } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ workers: 2, redrive: true, fromSource: true })
const receiver = useReceiver()

test('a published message reaches every subscription once', async () => {
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'orders',
    subscriptions: { '/a': {}, '/b': {} },
  })
  for (const text of ['one', 'two', 'three']) expect(await ledger.publish(text)).toBe('accepted')
  const account = await ledger.whenSettled()
  expect(account).toMatchObject({ owed: 6, delivered: 6, duplicates: 0, refusedYetSeen: 0 })
})

test('every service says that it is ready and how it is doing', async () => {
  for (const service of stack().services()) {
    const response = await fetch(`${service.url}/metrics`)
    expect(await response.text()).toContain('# TYPE fantail_')
    expect(await service.isReady()).toBe(true)
  }
})
