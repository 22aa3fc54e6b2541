import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const PER_SECOND = LONG ? 200 : 60
const KILLS = 2

const stack = useStack({ workers: 1, redis: { appendfsync: 'always' } })
const receiver = useReceiver()

test('an API killed while publishing loses nothing it acknowledged, and stores a request whole or not at all', async () => {
  const row = beginFault('api-kills')
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'killed-api',
    subscriptions: { '/a': {}, '/b': {} },
  })
  let recoverySeconds = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const accepted = ledger.count('accepted')
    const publishing = ledger.publishAtRate({
      count: 2 * PER_SECOND,
      perSecond: PER_SECOND,
      prefix: `${kill}-`,
    })
    await waitFor(() => ledger.count('accepted') >= accepted + PER_SECOND / 2)
    const killedAt = performance.now()
    await stack().api.restart()
    recoverySeconds = Math.max(recoverySeconds, await ledger.recovered(killedAt))
    await publishing
  }
  // When everything has settled, an unknown message has reached both subscriptions or neither.
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, duplicates: 0 })
  expect(account.unknown + account.refused).toBeGreaterThan(0)
}, 60_000)

test('SIGTERM ends the API after the requests under way, with 0', async () => {
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'stopped-api',
    subscriptions: { '/c': {} },
  })
  const publishing = ledger.publishAtRate({ count: PER_SECOND, perSecond: PER_SECOND })
  await waitFor(() => ledger.count('accepted') >= PER_SECOND / 4)
  expect(await stack().api.stop()).toBe(0)
  await publishing
  await stack().api.start()
  const account = await ledger.whenSettled()
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, duplicates: 0 })
}, 60_000)
