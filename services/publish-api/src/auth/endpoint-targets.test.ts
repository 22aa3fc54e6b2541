import { PROTOCOLS, type Protocol } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { endpointTargets } from './targets.ts'

const PLACE = 'us-east-1:000000000000'
const ENDPOINTS: Record<Protocol, [endpoint: string, rights: string[]]> = {
  http: ['http://example.com/', []],
  https: ['https://example.com/', []],
  email: ['ada@example.com', []],
  'email-json': ['ada@example.com', []],
  sqs: [`arn:aws:sqs:${PLACE}:a`, [`SQS:SendMessage arn:aws:sqs:${PLACE}:a`]],
  lambda: [
    `arn:aws:lambda:${PLACE}:function:f:1`,
    [`lambda:InvokeFunction arn:aws:lambda:${PLACE}:function:f`],
  ],
  firehose: [
    `arn:aws:firehose:${PLACE}:deliverystream/s`,
    [`firehose:PutRecordBatch arn:aws:firehose:${PLACE}:deliverystream/s`],
  ],
  sms: ['+15550100', ['sns:Publish * sms']],
  application: [
    `arn:aws:sns:${PLACE}:endpoint/GCM/app/0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21`,
    [`SNS:Publish arn:aws:sns:${PLACE}:app/GCM/app`],
  ],
}

test.each(PROTOCOLS)('a subscription to %s needs the rights on what it names', (protocol) => {
  const [endpoint, rights] = ENDPOINTS[protocol]
  const needed = endpointTargets({ protocol, endpoint }).map(({ action, arn, scope }) =>
    [action, arn, ...(scope ? [scope] : [])].join(' '),
  )
  expect(needed).toEqual(rights)
})
