import { platformApplicationArn } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { platformApplicationKey, platformEndpointsKey } from '../keys/keys.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { PlatformApplications } from './platform-applications.ts'
import { PlatformEndpoints } from './platform-endpoints.ts'

const { redis } = await useRedis()
const ARN = platformApplicationArn('GCM', 'shop', {
  partition: 'aws',
  region: 'us-east-1',
  account: '000000000000',
})
const TOKEN = { token: 'the token', enabled: true, createdAt: 1 }

test('a changed token is not pushed to, and its endpoint can be deleted and registered again', async () => {
  const [applications, endpoints] = [new PlatformApplications(redis), new PlatformEndpoints(redis)]
  await applications.create({ arn: ARN, platform: 'GCM', sealed: 'x', attributes: {}, createdAt: 1 })
  const { endpoint } = await endpoints.create(ARN, TOKEN)
  const { endpoint: other } = await endpoints.create(ARN, { ...TOKEN, token: 'another' })
  const [key, id] = [platformEndpointsKey(ARN), endpoint.arn.slice(-36)]
  await redis.hset(key, id, String(await redis.hget(key, id)).replace('the token', 'the tokem'))
  await expect(endpoints.get(endpoint.arn)).rejects.toThrow(UnreadableRecordError)
  expect((await endpoints.list(ARN, { limit: 9 })).items).toEqual([other])
  expect([await endpoints.delete(endpoint.arn), await endpoints.delete(endpoint.arn)]).toEqual([true, false])
  expect((await endpoints.create(ARN, TOKEN)).created).toBe(true)
  const otherId = other.arn.slice(-36)
  const noText = Buffer.from(
    String(await redis.hget(key, otherId)).replace('another', 'anothe\xff'),
    'latin1',
  )
  await redis.hset(key, otherId, noText)
  expect(await endpoints.delete(other.arn)).toBe(true)
  await redis.setrange(platformApplicationKey(ARN), 20, '~')
  await expect(applications.get(ARN)).rejects.toThrow(UnreadableRecordError)
  expect(await applications.delete(ARN)).toBe(true)
})
