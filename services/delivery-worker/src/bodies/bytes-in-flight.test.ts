/**
 * The bytes of messages bound the attempts of lanes. Attempts that hang use at most half of these bytes, so healthy
 * lanes keep the other half.
 */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, urlOf, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()

const LANES = 20
const EACH = 2
const TEXT = 'x'.repeat(65_536)
/** A message counts four bytes a character: capacity for 16, of which 8 may hang. */
const BODY_BYTES_MAX = 16 * 4 * 66_560
const HUNG_MAX = 8
const HEALTHY = 40

test('a healthy lane goes on beside lanes whose large messages hang, and these drain when they answer', async () => {
  const sender = createFakeSender()
  let answer: (status: number) => void = () => undefined
  let isHanging = true
  const answered = new Promise<number>((resolve) => {
    answer = resolve
  })
  sender.answer = (url) => (isHanging && !url.includes('healthy') ? answered : 200)
  const inFlight = () => [...sender.inFlight.values()].reduce((sum, n) => sum + n, 0)
  const publish = (to: string) => fixture.publish(TEXT, { attributes: { to: { type: 'String', value: to } } })
  const hung = await Promise.all(
    Array.from({ length: LANES }, (_, i) =>
      fixture.subscribe(`hung-${i}`, { filterPolicy: { to: [`hung-${i}`] } }),
    ),
  )
  const throttle = { throttlePolicy: { maxReceivesPerSecond: 100 } }
  await fixture.subscribe('healthy', { filterPolicy: { to: ['healthy'] }, deliveryPolicy: throttle })
  for (const { id } of hung) await fixture.subscriptions.update(id, () => ({ status: 'paused' }))
  await fixture.startWorker(sender, { bodyBytesMax: BODY_BYTES_MAX })
  for (let i = 0; i < LANES * EACH; i++) await publish(`hung-${i % LANES}`)
  await publish('healthy')
  await waitFor(() => sender.sent.length === 1)

  for (const { id } of hung) await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await waitFor(() => inFlight() >= HUNG_MAX)
  for (let i = 0; i < HEALTHY; i++) await publish('healthy')
  const healthy = () => sender.sent.filter(({ url }) => url === urlOf('healthy')).length
  await waitFor(() => healthy() === HEALTHY + 1)
  const hanging = sender.sent.length - healthy()
  // The last hanging attempt may begin if only a part of its bytes fits.
  expect(hanging).toBeLessThanOrEqual(HUNG_MAX + 1)

  isHanging = false
  answer(200)
  await waitFor(() => sender.sent.length - healthy() === LANES * EACH)
})
