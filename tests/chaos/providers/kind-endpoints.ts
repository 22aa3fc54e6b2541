/** The endpoints of all kinds except webhooks and queues: their addresses, and how their deliveries must end. */
import type { Endpoint } from '../inputs/chaos-endpoint.ts'
import { MAIL_ADDRESSES } from './mail-provider.ts'
import { isRefused, isUnanswered } from './provider-faults.ts'
import { FOLDER_NAME, FUNCTION_NAME, STREAM_NAME } from './providers.ts'

const fate = (text: string) => (isRefused(text) ? 'dead' : 'delivered')
const streamArn = (name: string) => `arn:aws:firehose:us-east-1:000000000000:deliverystream/${name}`

/** A subscription of mail sends at most ten mails a second, so each gets only one kind of message. */
export const KIND_ENDPOINTS = {
  function: {
    protocol: 'lambda',
    address: `arn:aws:lambda:us-east-1:000000000000:function:${FUNCTION_NAME}`,
    provider: 'function',
    fate,
  },
  stream: { protocol: 'firehose', address: streamArn(STREAM_NAME), provider: 'stream' },
  folder: { protocol: 'firehose', address: streamArn(FOLDER_NAME), provider: 'folder' },
  mail: { protocol: 'email', address: MAIL_ADDRESSES.mail, provider: 'mail', kind: 'c', fate },
  'mail-json': {
    protocol: 'email-json',
    address: MAIL_ADDRESSES['mail-json'],
    provider: 'mail',
    kind: 'a',
    fate,
  },
  // A message that the provider took without an answer may have been sent, so it is not sent again.
  sms: {
    protocol: 'sms',
    address: '+15550100',
    provider: 'sms',
    mayBeUnknown: true,
    fate: (text) => (isUnanswered(text) ? 'unknown' : fate(text)),
  },
  // Its address exists once its platform application does.
  push: { protocol: 'application', address: '', provider: 'push', fate },
} as const satisfies Record<string, Endpoint>
