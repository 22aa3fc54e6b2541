import { createECDH, createPrivateKey } from 'node:crypto'
import { expect, it } from 'vitest'
import { pushBehaviour, pushSetting, takePush } from './push-service.ts'

const ORIGIN = 'http://127.0.0.1:4109'

it('gives a browser the same address and keys each time, and each browser its own', () => {
  const tokenOf = (path: string) => (pushSetting(path, ORIGIN) as { token: string }).token
  expect(tokenOf('/push/ada')).toBe(tokenOf('/push/ada'))
  const [ada, bob] = ['/push/ada', '/push/bob'].map((path) => JSON.parse(tokenOf(path)))
  expect(ada.endpoint).toBe(`${ORIGIN}/push/ada`)
  expect(Buffer.from(ada.keys.p256dh, 'base64url')).toHaveLength(65)
  expect(Buffer.from(ada.keys.auth, 'base64url')).toHaveLength(16)
  expect(ada.keys).not.toEqual(bob.keys)
  expect(pushSetting('/ok', ORIGIN)).toBeUndefined()
})

it('gives a VAPID pair whose halves belong together', () => {
  const { principal, credential } = pushSetting('/vapid', ORIGIN) as { principal: string; credential: string }
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(Buffer.from(credential, 'base64url'))
  expect(pair.getPublicKey().toString('base64url')).toBe(principal)
})

it('gives a service account whose key can sign', () => {
  const { credential } = pushSetting('/service-account', ORIGIN) as { credential: string }
  const { type, private_key } = JSON.parse(credential)
  expect([type, createPrivateKey(private_key).asymmetricKeyType]).toEqual(['service_account', 'rsa'])
})

it.each([
  ['/push/ada', '', 201],
  ['/push/status-410', '', 410],
  ['/push/hang', '', null],
  ['/v1/projects/shop/messages:send', '{"message":{"token":"phone"}}', 200],
  ['/v1/projects/shop/messages:send', '{"message":{"token":"status-404"}}', 404],
  ['/token', 'assertion=secret', 200],
])('answers %s %s with %s', (path, body, status) => {
  const pushed = takePush(path, Buffer.from(body))
  expect(pushed && pushBehaviour(pushed, 1).status).toBe(status)
  expect(pushed?.text).not.toContain('secret')
})

it('says which body a browser cannot read, and which token Firebase does not know', () => {
  expect(takePush('/push/ada', Buffer.from('hello'))?.text).toContain('the browser cannot read it')
  const device = takePush('/v1/projects/shop/messages:send', Buffer.from('{}'))
  expect(device?.answerOf(404)).toMatchObject({ error: { details: [{ errorCode: 'UNREGISTERED' }] } })
  expect(takePush('/ok', Buffer.from(''))).toBeUndefined()
})
