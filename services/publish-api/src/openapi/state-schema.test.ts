/** The JSON Schema of files of `fantail apply`, judged by ajv as an editor judges a file. */
import { stateJsonSchema } from '@fantail/contracts/schemas/overview/state-schemas'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'

const isValid = new Ajv({ strict: false, validateFormats: false }).compile(stateJsonSchema())

const subscription = (settings: object) => ({ endpoint: 'https://example.com/in', settings })
const topic = (more: object) => ({ name: 'orders', subscriptions: [], ...more })
const file = (more: object) => ({ version: 1, queues: [], topics: [], ...more })

test.each([
  {},
  { $schema: 'fantail.schema.json' },
  { queues: [{ name: 'jobs', settings: { retentionSeconds: 345_600, redrivePolicy: null } }] },
  { topics: [topic({ eventTypes: [{ name: 'order.paid', settings: { schema: { type: 'object' } } }] })] },
  {
    topics: [
      topic({
        settings: { deliveryPolicy: { healthyRetryPolicy: { preset: 'patient' } } },
        subscriptions: [subscription({ filterPolicy: { region: ['eu'] }, metadata: { team: 'blue' } })],
      }),
    ],
  },
])('%j is accepted', (more) => {
  expect([isValid(file(more)), isValid.errors]).toEqual([true, null])
})

test.each([
  [{ version: 2 }, '/version'],
  [{ topic: [] }, ''],
  [{ queues: [{ name: 'jobs', settings: { retentionSecond: 60 } }] }, '/queues/0/settings'],
  [{ queues: [{ name: 'jobs', settings: { retentionSeconds: 1 } }] }, '/queues/0/settings/retentionSeconds'],
  [{ topics: [{ name: 'orders' }] }, '/topics/0'],
  [
    { topics: [topic({ subscriptions: [subscription({ outbound: null })] })] },
    '/topics/0/subscriptions/0/settings',
  ],
])('%j is refused at %s', (more, path) => {
  expect(isValid(file(more))).toBe(false)
  expect(isValid.errors?.map(({ instancePath }) => instancePath)).toContain(path)
})
