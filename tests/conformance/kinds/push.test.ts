/** Mobile push as a subscriber of SNS, with the SDK's client, against a receiver that stands for FCM. */
import {
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  CreateTopicCommand,
  GetEndpointAttributesCommand,
  GetSubscriptionAttributesCommand,
  PublishCommand,
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

test('a platform endpoint takes part at once, and gets the text of its platform', async () => {
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
    new PublishCommand({ TopicArn: topicArn('devices'), Message, MessageStructure: 'json' }),
  )
  await waitFor(() => sends().length === 1, { what: 'the notification' })
  const { message } = JSON.parse(String(sends()[0]?.body))
  expect(message).toMatchObject({ token: 'device-1', notification: { title: 'hello' } })
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
