/** Subscribes the endpoints of all kinds to a topic with the SDK's client, and confirms the mail addresses. */
import {
  ConfirmSubscriptionCommand,
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { firebaseCredential, waitFor } from '@fantail/test-kit'
import { queueArn } from '../../harness/aws/aws-clients.ts'
import { type Endpoint, KEPT_QUEUE, type Subscribed } from '../inputs/chaos-endpoint.ts'
import { KIND_ENDPOINTS } from './kind-endpoints.ts'
import { MAIL_ADDRESSES } from './mail-provider.ts'
import type { Providers } from './providers.ts'

const ROLE = 'arn:aws:iam::000000000000:role/chaos'

/** Resolves with the subscriptions by the endpoint's name. */
export async function subscribeKinds(
  apiUrl: string,
  TopicArn: string,
  { mail }: Providers,
): Promise<Map<string, Subscribed>> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const sns = new SNSClient({ endpoint: apiUrl, region: 'us-east-1', credentials })
  const subscriptions = new Map<string, Subscribed>()
  try {
    for (const [name, endpoint] of Object.entries<Endpoint>(KIND_ENDPOINTS)) {
      const arn = await subscribe(sns, TopicArn, endpoint)
      subscriptions.set(name, { arn, id: arn.split(':').at(-1) ?? '' })
    }
    for (const name of Object.keys(MAIL_ADDRESSES) as (keyof typeof MAIL_ADDRESSES)[]) {
      const Token = await waitFor(() => mail.tokenFor(name), { what: `the confirmation mail to ${name}` })
      await sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }))
    }
  } finally {
    sns.destroy()
  }
  return subscriptions
}

async function subscribe(sns: SNSClient, TopicArn: string, endpoint: Endpoint): Promise<string> {
  const { protocol, kind } = endpoint
  const Attributes = {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(KEPT_QUEUE) }),
    ...(kind !== undefined && { FilterPolicy: JSON.stringify({ kind: [kind] }) }),
    ...(protocol === 'firehose' && { SubscriptionRoleArn: ROLE }),
  }
  const command = new SubscribeCommand({
    TopicArn,
    Protocol: protocol,
    Endpoint: protocol === 'application' ? await createDevice(sns) : endpoint.address,
    Attributes,
    ReturnSubscriptionArn: true,
  })
  return (await sns.send(command)).SubscriptionArn ?? ''
}

async function createDevice(sns: SNSClient): Promise<string> {
  const application = { Name: 'chaos', Platform: 'GCM', Attributes: firebaseCredential('chaos') }
  const { PlatformApplicationArn } = await sns.send(new CreatePlatformApplicationCommand(application))
  const device = new CreatePlatformEndpointCommand({ PlatformApplicationArn, Token: 'device' })
  return (await sns.send(device)).EndpointArn ?? ''
}
