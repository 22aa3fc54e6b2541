import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { AwsError, type Shape, xmlAnswer, xmlError } from './index.ts'

const requestId = 'f3a1'
const answer = (output: Record<string, Shape> | null, result?: Record<string, unknown>) =>
  xmlAnswer({ service: 'sns', requestId, operation: { name: 'Do', output }, result })

const wrap = (inner: string) =>
  `<DoResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">${inner}<ResponseMetadata><RequestId>f3a1</RequestId></ResponseMetadata></DoResponse>`

test('[193] an operation without output answers with ResponseMetadata alone', () => {
  const { status, text, headers } = answer(null)
  expect([status, text]).toEqual([200, wrap('')])
  expect(headers).toEqual({ 'Content-Type': 'text/xml', 'x-amzn-RequestId': requestId })
})

test('an empty output has an empty result element', () => {
  expect(answer({}).text).toBe(wrap('<DoResult/>'))
})

test('lists have members, maps have entries, what is not given is left out', () => {
  const output: Record<string, Shape> = {
    Topics: { list: { struct: { TopicArn: 'string' } } },
    Attributes: { map: 'string' },
    NextToken: 'string',
    Done: 'boolean',
  }
  expect(
    answer(output, { Done: false, Attributes: { a: '1' }, Topics: [{ TopicArn: 'x' }, { TopicArn: 'y' }] })
      .text,
  ).toBe(
    wrap(
      '<DoResult><Topics><member><TopicArn>x</TopicArn></member><member><TopicArn>y</TopicArn></member></Topics>' +
        '<Attributes><entry><key>a</key><value>1</value></entry></Attributes><Done>false</Done></DoResult>',
    ),
  )
  expect(answer(output, { Topics: [], NextToken: undefined }).text).toBe(
    wrap('<DoResult><Topics/></DoResult>'),
  )
})

test('SQS flattens lists and maps, in its own namespace', () => {
  const output: Record<string, Shape> = {
    QueueUrls: { list: 'string', flat: 'QueueUrl' },
    Messages: {
      list: {
        struct: {
          Body: 'string',
          Attributes: { map: 'string', flat: 'Attribute', entry: { key: 'Name', value: 'Value' } },
          Data: 'blob',
        },
      },
      flat: 'Message',
    },
  }
  const { text } = xmlAnswer({
    service: 'sqs',
    requestId,
    operation: { name: 'Do', output },
    result: {
      QueueUrls: ['a', 'b'],
      Messages: [{ Body: 'x', Attributes: { A: '1', B: '2' }, Data: Buffer.from('hi') }],
    },
  })
  expect(text).toContain('<DoResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/">')
  expect(text).toContain(
    '<DoResult><QueueUrl>a</QueueUrl><QueueUrl>b</QueueUrl><Message><Body>x</Body>' +
      '<Attribute><Name>A</Name><Value>1</Value></Attribute><Attribute><Name>B</Name><Value>2</Value></Attribute>' +
      '<Data>aGk=</Data></Message></DoResult>',
  )
})

test('[191] errors have type, code, message and request id in the namespace of SNS', () => {
  const { status, text } = xmlError(new AwsError('NotFound', 'Topic <x> does not exist', { status: 404 }), {
    service: 'sns',
    requestId,
  })
  expect(status).toBe(404)
  expect(text).toBe(
    '<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>NotFound</Code>' +
      '<Message>Topic &lt;x&gt; does not exist</Message></Error><RequestId>f3a1</RequestId></ErrorResponse>',
  )
  const ours = xmlError(new AwsError('InternalFailure', 'x', { status: 500 }), { service: 'sqs', requestId })
  expect(ours.text).toContain('<Type>Receiver</Type>')
})

test('a character that XML cannot contain becomes the replacement character', () => {
  expect(answer({ A: 'string' }, { A: 'a\u0000b\u001f\ufffe\ud800' }).text).toContain(
    '<A>a\ufffdb\ufffd\ufffd\ufffd</A>',
  )
})

test('every text that XML can hold comes back as it was', () => {
  // Set up like the parser of Amazon's SDKs.
  const parser = new XMLParser({
    trimValues: false,
    parseTagValue: false,
    processEntities: true,
    htmlEntities: true,
  })
  const writable = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('\r', '\n', '\t', ' ', '&', '<', '>', '"', "'", ']]>'),
        fc.string({ unit: 'grapheme' }),
      ),
    })
    .filter((text) => !/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
  fc.assert(
    fc.property(writable, (text) => {
      const read = parser.parse(answer({ A: { map: 'string' } }, { A: { [`k${text}`]: text } }).text)
      expect(read.DoResponse.DoResult.A.entry).toEqual({ key: `k${text}`, value: text })
    }),
  )
})
