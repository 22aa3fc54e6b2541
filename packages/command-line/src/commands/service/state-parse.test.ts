import { expect, test } from 'vitest'
import { parseState, refusalAt } from './state-parse.ts'
import { settingProblem } from './state-settings.ts'

const YAML = `# The shop.
version: 1
queues:
  - name: orders-dlq
    settings: { retentionSeconds: 345600 }
topics:
  - name: orders
    settings:
      deliveryPolicy: &patient
        healthyRetryPolicy: { preset: patient }
    subscriptions:
      - endpoint: https://crm.example.com/in
        settings:
          deliveryPolicy: *patient
          filterPolicy: { region: [eu], paid: [on] }
`

test('YAML means what the same JSON means', () => {
  const deliveryPolicy = { healthyRetryPolicy: { preset: 'patient' } }
  // `on` is a word in YAML 1.2.
  const settings = { deliveryPolicy, filterPolicy: { region: ['eu'], paid: ['on'] } }
  const expected = {
    version: 1,
    queues: [{ name: 'orders-dlq', settings: { retentionSeconds: 345_600 } }],
    topics: [
      {
        name: 'orders',
        settings: { deliveryPolicy },
        subscriptions: [{ endpoint: 'https://crm.example.com/in', settings }],
      },
    ],
  }
  expect(parseState(YAML, 'shop.yaml')).toEqual(expected)
  expect(parseState(JSON.stringify(expected, null, '\t'), 'shop.json')).toEqual(expected)
})

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
for (const [name, other] of ['ba', 'cb', 'dc'] as unknown as string[][])
  bomb.push(`${name}: &${name} [${Array(10).fill(`*${other}`).join(', ')}]`)

test.each([
  ['', 'line 1, column 1: the file must be a map with version, queues, topics'],
  ['version: 2\nqueues: []\ntopics: []', 'line 1, column 1: version must be 1'],
  ['version: 1\ntopics: []', 'line 1, column 1: queues must be a list'],
  ['version: 1\nqueues: []\ntopic: []', 'line 3, column 1: topic is unknown; the members are version,'],
  ['version: 1\nqueues:\n  - {}\ntopics: []', 'line 3, column 5: queues[0].name must be a text'],
  ['version: 1\nqueues:\n  - name: 7\ntopics: []', 'line 3, column 5: queues[0].name must be a text'],
  ['version: 1\nqueues: [x]\ntopics: []', 'line 2, column 10: queues[0] must be a map with name'],
  [
    'version: 1\nqueues: []\ntopics:\n  - name: a',
    'line 4, column 5: topics[0].subscriptions must be a list',
  ],
  [YAML.replace('endpoint:', 'url:'), 'line 12, column 9: topics[0].subscriptions[0].url is unknown'],
  [YAML.replace('{ retentionSeconds: 345600 }', '5'), 'line 5, column 5: queues[0].settings must be a map'],
  ['version: 1\nversion: 1', 'line 2, column 1: Map keys must be unique'],
  ['{"version":1,\n"version":1}', 'line 2, column 1: Map keys must be unique'],
  ['{"version": 1,\n "queues": [}', 'line 2, column'],
  ['version: 1\n\tqueues: []', 'line 2, column 1: '],
  ['version: 1\nqueues: *none', 'line 2, column 9: &none is not defined before'],
  [bomb.join('\n'), 'line 1, column 1: Excessive alias count'],
])('%j is refused with line and column', (text, message) => {
  expect(() => parseState(text, 'shop.yaml')).toThrow(`shop.yaml, ${message}`)
})

test.each([
  [
    'topics:\n  - name: a\n    settings: { retentionSecond: 500 }\n    subscriptions: []',
    'line 5, column 17: topics[0].settings.retentionSecond is not a known member',
  ],
  [
    'topics:\n  - name: a\n    settings:\n      retentionSeconds: 5\n    subscriptions: []',
    'line 6, column 7: topics[0].settings.retentionSeconds must be at least 60',
  ],
  [
    'topics:\n  - name: a\n    subscriptions:\n      - endpoint: https://a.example/\n        settings: { filterPolicy: { a: b } }',
    'line 7, column 21: topics[0].subscriptions[0].settings.filterPolicy is refused: ',
  ],
  [
    'topics:\n  - name: a\n    settings: { deliveryPolicy: { retryOn: [404] } }\n    subscriptions: []',
    'line 5, column 35: topics[0].settings.deliveryPolicy.retryOn ',
  ],
  [
    'topics:\n  - name: not a name\n    subscriptions: []',
    'line 4, column 5: topics[0].name must be a topic name (1 to 256 of A-Z a-z 0-9 _ -) or a topic ARN',
  ],
])('before anything is changed, the settings of %j are refused with line and column', (text, message) => {
  const file = `version: 1\nqueues: []\n${text}`
  const problem = settingProblem(parseState(file, 'shop.yaml'))
  expect(problem && refusalAt(problem, file, 'shop.yaml').message).toContain(`shop.yaml, ${message}`)
})

test('settings that the server accepts have no problem', () => {
  expect(settingProblem(parseState(YAML, 'shop.yaml'))).toBeUndefined()
  // A subscription that exists may filter bodies.
  const nested = 'settings: { filterPolicy: { order: { state: [paid] } } }'
  const file = `version: 1\nqueues: []\ntopics:\n  - name: a\n    subscriptions:\n      - endpoint: https://a.example/\n        ${nested}`
  expect(settingProblem(parseState(file, 'shop.yaml'))).toBeUndefined()
})
