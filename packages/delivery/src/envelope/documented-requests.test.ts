/** Requests to webhooks are as the OpenAPI document describes them. */
import { createSecretKey } from 'node:crypto'
import {
  createMessageId,
  type Message,
  type MessageKind,
  type SubscriptionRecord,
  SYSTEM_POLICY,
} from '@fantail/contracts'
import { Confirmation, Notification, WEBHOOK_HEADERS } from '@fantail/contracts/schemas/webhook-schemas'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { expect, test } from 'vitest'
import { createWebhookKey } from '../signing/standard-webhooks.ts'
import { renderRequest } from './attempt-request.ts'
import { compileEnvelope } from './envelope.ts'
import { compileTarget } from './target.ts'

const ID = '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012'
const TOPIC_ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
/** Headers of the HTTP client, and headers that receivers need not know. */
const UNDOCUMENTED = ['content-type', 'user-agent', 'accept-encoding']
const LINK_KEY = createSecretKey(Buffer.alloc(32, 'k'))
const masterKey = parseMasterKey(createMasterKeyText())
const vault = masterKey && createVault([masterKey])

function sent(kind: MessageKind, set: Partial<SubscriptionRecord> = {}, copied: Partial<Message> = {}) {
  const now = Date.now()
  const { key } = createWebhookKey({ subscriptionId: ID, algorithm: 'hmac-sha256', now }, vault)
  const record = {
    id: ID,
    arn: `${TOPIC_ARN}:${ID}`,
    topicArn: TOPIC_ARN,
    protocol: 'https',
    endpoint: 'https://example.com/hook',
    rawMessageDelivery: false,
    webhookKeys: [key],
    ...set,
  } as SubscriptionRecord
  const message: Message = {
    messageId: createMessageId(now),
    topicArn: TOPIC_ARN,
    publishedAt: now,
    subject: 'Greeting',
    message: 'hello',
    attributes: { eventType: { type: 'String', value: 'order.paid' } },
    sequenceNumber: '10000000000000000000',
    editedFrom: ID,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ...(kind !== 'Notification' && { kind, token: 'token' }),
    ...copied,
  }
  const envelope = compileEnvelope(message, { publicUrl: 'http://127.0.0.1:4100', key: LINK_KEY })
  const request = renderRequest(envelope, compileTarget(record, SYSTEM_POLICY), { vault, clock: () => now })
  if ('kind' in request) throw new Error(JSON.stringify(request))
  return { body: request.body.toString(), headers: byName(request.headers) }
}

function byName(flat: string[]): Record<string, string> {
  const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), flat[at + 1] ?? '']] : []))
  return Object.fromEntries(pairs)
}

const strict = { Notification: Notification.strict(), Confirmation: Confirmation.strict() }

test('a notification has the members that the document names, and no other', () => {
  const { body } = sent('Notification')
  expect(strict.Notification.parse(JSON.parse(body))).toMatchObject({ Message: 'hello' })
})

test('a copy has the id of the message that another service published first', () => {
  const sourceId = '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324'
  const { body, headers } = sent('Notification', {}, { sourceId, editedFrom: undefined })
  expect(JSON.parse(body).MessageId).toBe(sourceId)
  expect([headers['x-amz-sns-message-id'], headers['webhook-id']]).toEqual([sourceId, sourceId])
})

test.each(['SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const)(
  'a %s has the members that the document names, and no other',
  (kind) => {
    expect(strict.Confirmation.parse(JSON.parse(sent(kind).body))).toMatchObject({
      Type: kind,
      Token: 'token',
    })
  },
)

test('the headers are those that the document names, each with a value that it allows', () => {
  const all = [
    sent('Notification'),
    sent('Notification', { rawMessageDelivery: true, origin: 'native', svixHeaders: true }),
    sent('SubscriptionConfirmation'),
  ].map(({ headers }) => headers)
  const names = [...new Set(all.flatMap((headers) => Object.keys(headers)))]
  const documented = names.filter((name) => !UNDOCUMENTED.includes(name))
  expect(documented.toSorted()).toEqual(Object.keys(WEBHOOK_HEADERS).toSorted())
  for (const headers of all) {
    for (const [name, schema] of Object.entries(WEBHOOK_HEADERS))
      expect([name, headers[name], schema.safeParse(headers[name]).success]).toEqual([
        name,
        headers[name],
        true,
      ])
  }
})
