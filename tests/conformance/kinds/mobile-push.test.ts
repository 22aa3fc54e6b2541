/** Mobile push as a subscriber of SNS, with the SDK's client, against a receiver that takes the place of FCM. */
import {
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  CreateTopicCommand,
  GetEndpointAttributesCommand,
  GetSubscriptionAttributesCommand,
  PublishCommand,
  SetPlatformApplicationAttributesCommand,
} from '@aws-sdk/client-sns'
import { firebaseCredential, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { queueArn, topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { useStack } from '../../harness/services/stack.ts'

const SEND = '/v1/projects/shop-4711/messages:send'
const firebase = await startReceiver()
const stack = useStack({
  env: { FANTAIL_FCM_URL: firebase.url, FANTAIL_FCM_TOKEN_URL: `${firebase.url}/token` },
})
const aws = useAwsClients(stack)
afterAll(() => firebase.close())

const TOKEN = { status: 200, body: JSON.stringify({ access_token: 'at-1', expires_in: 3_600 }) }
const sends = () => firebase.requests.filter(({ path }) => path === SEND)

async function subscribed(name: string, Token: string) {
  firebase.respond('/token', TOKEN)
  const application = { Name: name, Platform: 'GCM', Attributes: firebaseCredential() }
  const { PlatformApplicationArn } = await aws().sns.send(new CreatePlatformApplicationCommand(application))
  const device = new CreatePlatformEndpointCommand({ PlatformApplicationArn, Token })
  const { EndpointArn: endpoint = '' } = await aws().sns.send(device)
  await aws().sns.send(new CreateTopicCommand({ Name: name }))
  const dead = await aws().createQueue(`${name}-dead`)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn(`${name}-dead`) })
  const arn = await aws().subscribe(name, {
    protocol: 'application',
    endpoint,
    attributes: { RedrivePolicy },
  })
  return { arn, endpoint, dead }
}

test('[313] a platform endpoint takes part at once, and gets the text and time to live of its platform', async () => {
  firebase.respond(SEND, { status: 200, body: '{"name":"projects/shop-4711/messages/1"}' })
  const { arn } = await subscribed('devices', 'device-1')
  const shown = await aws().sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: arn }))
  expect(shown.Attributes).toMatchObject({
    PendingConfirmation: 'false',
    ConfirmationWasAuthenticated: 'true',
  })
  const texts = { default: 'for all', GCM: JSON.stringify({ notification: { title: 'hello' } }), APNS: '{}' }
  const Message = JSON.stringify(texts)
  await aws().sns.send(
    new PublishCommand({
      TopicArn: topicArn('devices'),
      Message,
      MessageStructure: 'json',
      MessageAttributes: { 'AWS.SNS.MOBILE.GCM.TTL': { DataType: 'Number', StringValue: '0' } },
    }),
  )
  await waitFor(() => sends().length === 1, { what: 'the notification' })
  const { message } = JSON.parse(String(sends()[0]?.body))
  expect(message).toMatchObject({
    token: 'device-1',
    notification: { title: 'hello' },
    android: { ttl: '0s' },
  })
})

test('a message to one platform endpoint is delivered without a topic', async () => {
  firebase.respond(SEND, { status: 200, body: '{"name":"projects/shop-4711/messages/1"}' })
  const { endpoint } = await subscribed('alone', 'device-3')
  const body = { targetArn: endpoint, message: 'hello', attributes: { 'AWS.SNS.MOBILE.GCM.TTL': 0 } }
  const { messageId } = await stack().client.post<{ messageId: string }>('/v1/messages', body)
  const path = `/v1/messages/${messageId}/deliveries`
  const fate = await waitFor(async () => {
    const { body } = await stack().client.call<{ deliveries?: { endedAt: string | null }[] }>('GET', path)
    return body.deliveries?.[0]?.endedAt ? body.deliveries : undefined
  })
  expect(fate).toMatchObject([{ state: 'delivered', endpoint, subscriptionId: null, attemptsMax: 51 }])
  const { message } = JSON.parse(String(sends().at(-1)?.body))
  expect(message).toMatchObject({ token: 'device-3', data: { default: 'hello' }, android: { ttl: '0s' } })
})

test('[399] UNREGISTERED dead-letters after one attempt, and disables the endpoint', async () => {
  const error = { code: 404, status: 'NOT_FOUND', details: [{ errorCode: 'UNREGISTERED' }] }
  firebase.respond(SEND, { status: 404, body: JSON.stringify({ error }) })
  const before = sends().length
  const { endpoint, dead } = await subscribed('gone', 'device-2')
  await aws().sns.send(new PublishCommand({ TopicArn: topicArn('gone'), Message: 'hello' }))
  expect((await aws().receive(dead)).Body).toContain('hello')
  expect(sends()).toHaveLength(before + 1)
  const command = new GetEndpointAttributesCommand({ EndpointArn: endpoint })
  const { Attributes } = await aws().sns.send(command)
  expect(Attributes).toEqual({ Enabled: 'false', Token: 'device-2' })
})

test('[401] a message to one device that fails permanently gives the event of its application', async () => {
  const error = { code: 400, status: 'INVALID_ARGUMENT', details: [{ errorCode: 'INVALID_ARGUMENT' }] }
  firebase.respond(SEND, { status: 400, body: JSON.stringify({ error }) })
  const { endpoint } = await subscribed('direct', 'device-3')
  await aws().sns.send(new CreateTopicCommand({ Name: 'push-events' }))
  const events = await aws().createQueue('push-events')
  await aws().subscribe('push-events', { protocol: 'sqs', endpoint: queueArn('push-events') })
  const PlatformApplicationArn = endpoint.replace(':endpoint/', ':app/').replace(/\/[^/]+$/, '')
  const Attributes = { EventDeliveryFailure: topicArn('push-events') }
  await aws().sns.send(new SetPlatformApplicationAttributesCommand({ PlatformApplicationArn, Attributes }))
  const published = await aws().sns.send(new PublishCommand({ TargetArn: endpoint, Message: 'to you' }))
  const { Body = '{}' } = await aws().receive(events)
  expect(JSON.parse(JSON.parse(Body).Message)).toMatchObject({
    EventType: 'DeliveryFailure',
    EndpointArn: endpoint,
    FailureType: 'DeliveryFailedPerm',
    MessageId: published.MessageId,
  })
})
