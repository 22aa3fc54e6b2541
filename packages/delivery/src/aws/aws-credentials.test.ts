import { startReceiver, waitFor } from '@fantail/test-kit'
import { afterEach, expect, test, vi } from 'vitest'
import { AwsSigner } from './aws-signer.ts'

afterEach(() => vi.unstubAllEnvs())

const NOW = Date.now()
const request = {
  ...{ service: 'lambda', region: 'us-east-1', url: 'https://lambda.us-east-1.amazonaws.com/x' },
  ...{ headers: {}, body: '{}', now: NOW },
}

test('credentials of a container are fetched from its endpoint, and fetched again when they end', async () => {
  const container = await startReceiver()
  let count = 0
  container.respond('/role', () => ({
    body: JSON.stringify({
      AccessKeyId: `ASIA${++count}`,
      SecretAccessKey: 'secret',
      Token: `token-${count}`,
      Expiration: new Date(Date.now() + (count === 1 ? 1_000 : 3_600_000)).toISOString(),
    }),
  }))
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_CONFIG_FILE', '/dev/null')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null')
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${container.url}/role`)
  const signer = new AwsSigner({ credentials: 'default', targets: [] })
  expect(signer.nameIn('us-east-1')).toBe('aws:default:us-east-1')
  const tokenOf = async () => (await signer.sign(request))['x-amz-security-token']
  expect(await tokenOf()).toBe('token-1')
  await waitFor(async () => (await tokenOf()) === 'token-2', { what: 'the next credentials' })
  expect([await tokenOf(), count]).toEqual(['token-2', 2])
  await container.close()
})
