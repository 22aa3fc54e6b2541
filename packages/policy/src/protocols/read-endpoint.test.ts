import { ARN_DEFAULTS, type Protocol, queueArn } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { readEndpoint, refusedSetting } from './traits.ts'

const read = (text: string, given?: Protocol) => readEndpoint(text, given, ARN_DEFAULTS)

test('an endpoint is read by the kind whose syntax it has, whatever the case of its scheme', () => {
  expect(read('http://example.com/a')).toEqual({ protocol: 'http', endpoint: 'http://example.com/a' })
  expect(read('HTTPS://example.com/a')).toEqual({ protocol: 'https', endpoint: 'HTTPS://example.com/a' })
  expect(read(queueArn('work'))).toEqual({ protocol: 'sqs', endpoint: queueArn('work') })
})

test('a queue’s name is an endpoint if the protocol is named', () => {
  expect(read('work', 'sqs')).toEqual({ protocol: 'sqs', endpoint: queueArn('work') })
  const message =
    'must be an http or https URL, the ARN of a queue, the ARN of a function, the ARN of a delivery stream, a mail address, a phone number with its country code (+15550100) or the ARN of a platform endpoint'
  for (const given of [undefined, 'http', 'https'] as const) {
    expect(read('work', given)).toEqual({ path: 'endpoint', message })
  }
})

test('a protocol that is named must be the endpoint’s', () => {
  const problem = (protocol: string) => ({
    path: 'protocol',
    message: `must be ${protocol}, as the endpoint has it`,
  })
  expect(read('https://example.com/', 'http')).toEqual(problem('https'))
  expect(read(queueArn('work'), 'https')).toEqual(problem('sqs'))
})

test.each([
  ['https://exa mple.com/', 'must not hold spaces, control characters or backslashes'],
  ['https://a:b:c/', 'must be a URL'],
  ['https://under_score.example/', 'must have a host name without underscores'],
  ['https://example.com:0/', 'must have a port other than 0'],
])('%s %s', (text, message) => {
  expect(read(text)).toEqual({ path: 'endpoint', message })
})

test('a setting that a kind does not take is refused with the kinds that do', () => {
  const refused = (['http', 'https', 'sqs'] as const).map((protocol) => refusedSetting(protocol, 'outbound'))
  expect(refused).toEqual([undefined, undefined, 'is for http and https subscriptions only'])
  expect(refusedSetting(undefined, 'outbound')).toBeUndefined()
})
