import { DamagedDataError } from '@fantail/delivery'
import { connect, MobilePushState, shardBase, shardOf } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { createMailTools, createMobilePushTools, createSmsTools } from './provider-tools.ts'

const { redis } = await useRedis({ connect })
const options = { metrics: createMetrics(), log: { warn: expect.fail }, now: () => Date.parse('2026-11-30') }
const ASKED = { number: '+15550100', costUsd: 0.1, dayUsdMax: 1, monthUsdMax: 1 }

test('damaged data of a whole kind is told apart from a Redis that does not answer', async () => {
  const [mail, sms] = [createMailTools(redis, options), createSmsTools(redis, options)]
  await redis.set('ft:{sms}:spent:2026-11', '~')
  await redis.set('ft:{mail}:suppressions', 'x')
  await expect(sms.reserve(ASKED)).rejects.toThrow(
    new DamagedDataError('data of text messages cannot be read: ft:{sms}:spent:2026-11: it holds no amount'),
  )
  await redis.set('ft:{sms}:attributes', 'x')
  await expect(sms.defaults()).rejects.toThrow(DamagedDataError)
  await expect(mail.isSuppressed('ann@example.com')).rejects.toThrow(DamagedDataError)
  const arn = 'arn:aws:sns:us-east-1:000000000000:app/GCM/shop'
  await redis.set(`${shardBase(shardOf(arn))}app:${arn}`, '{}')
  const mobilePush = new MobilePushState(redis, {
    onDisabled: () => undefined,
    publishUpdated: async () => undefined,
  })
  await expect(createMobilePushTools(mobilePush).application(arn)).rejects.toThrow(DamagedDataError)
  const closed = connect({ url: 'redis://127.0.0.1:1', name: 'test' })
  closed.disconnect()
  const refused = createSmsTools(closed, options).reserve(ASKED)
  await expect(refused).rejects.not.toBeInstanceOf(DamagedDataError)
})
