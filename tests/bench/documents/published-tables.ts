/** The figures that the documents show. Each row of docs/performance.md has the reason for which it is there. */

/** A figure of a scenario. Its value is bold if it misses its bar. */
export interface Shown {
  scenario: string
  figure: string
  show: 'value' | 'bar' | 'note'
}

interface Table {
  head: string[]
  rows: (string | Shown)[][]
}

/** A part of a document between two marks, which `npm run bench -- all --write` writes. */
export interface Region {
  document: string
  name: string
  tables: Table[]
}

/** A commit before statistics and live events: the present tree must not cost more. */
export const BASELINE = 'd883f7b'

const value = (scenario: string, figure: string): Shown => ({ scenario, figure, show: 'value' })

const HEAD = ['scenario', 'figure', 'value (min–max)', 'bar', 'why it is measured']

/** `figures`: the name in the log, and the reason. */
function rowsOf(scenario: string, figures: Record<string, string>): Table['rows'] {
  return Object.entries(figures).map(([figure, reason]) => [
    scenario,
    figure,
    value(scenario, figure),
    { scenario, figure, show: 'bar' },
    reason,
  ])
}

const fanOutRow = (fanOut: number) => [
  `fan-out ${fanOut}`,
  ...['deliveries', 'BullMQ by hand', 'bare `request` loop', 'Fantail : BullMQ by hand'].map((figure) =>
    value(`fanout-${fanOut}`, figure),
  ),
]

const cpuRow = (fanOut: number) => [
  `fan-out ${fanOut}`,
  value(`fanout-${fanOut}`, 'CPU per delivery, processes'),
  value(`fanout-${fanOut}`, 'CPU per delivery, Redis'),
]

const tlsRow = (ms: number) => [
  `answers after ${ms} ms`,
  value('tls', `signed deliveries over TLS, answers after ${ms} ms`),
  value('tls', `Fantail : BullMQ by hand, answers after ${ms} ms`),
  value('tls', `Fantail : bare loop, answers after ${ms} ms`),
]

const latencyRow = (load: string) => [
  load,
  ...['p50', 'p99', 'p99.9'].map((percentile) => value('latency', `${load}, ${percentile}`)),
]

const earlierRow = (work: string): (string | Shown)[] => {
  const figure = `${work}, earlier : present`
  return [work, value('earlier', figure), { scenario: 'earlier', figure, show: 'note' }]
}

const THROUGHPUT: Table[] = [
  {
    head: [
      'deliveries/s, signed, over TLS 1.3 to 1,000 hosts, fan-out 10',
      'Fantail',
      'Fantail : BullMQ by hand',
      'Fantail : bare loop',
    ],
    rows: [0, 50, 300].map(tlsRow),
  },
  {
    head: ['deliveries/s over http', 'Fantail', 'BullMQ by hand', 'bare loop', 'Fantail : BullMQ by hand'],
    rows: [10, 1].map(fanOutRow),
  },
  { head: ['CPU per delivery', 'processes', 'Redis'], rows: [10, 1].map(cpuRow) },
  {
    head: ['over the AWS protocols', 'value'],
    rows: [
      [
        'CPU of a publish : by the native route',
        value('aws-wire', 'publish over SNS’s protocol : native, CPU'),
      ],
      [
        'ReceiveMessage and DeleteMessageBatch',
        value('aws-wire', 'messages from a queue, in batches of ten'),
      ],
    ],
  },
  {
    head: ['time from publish to arrival', 'median', 'p99', 'p99.9'],
    rows: ['50 publishes/s', 'half of the highest rate', '80 % of the highest rate'].map(latencyRow),
  },
]

const RESULTS: Table = {
  head: HEAD,
  rows: [
    ...rowsOf('tls', {
      'Fantail : bare loop, answers after 0 ms': 'the way to customers: HTTPS, signed, 1,000 hosts',
      'Fantail : bare loop, answers after 50 ms': 'the same with the time that most endpoints take',
      'Fantail : bare loop, answers after 300 ms':
        'the same with slow endpoints, which need more connections',
      'new connections per 1,000 deliveries, answers after 50 ms': 'a handshake costs more than a delivery',
      'CPU of all processes : loop’s CPU': 'the price of a queue at a low rate',
      'publish to arrival, cold, p50': 'the first delivery to a host waits for a handshake',
      'the same, against the loop': 'that wait without a queue, on the same machine',
    }),
    ...rowsOf('fanout-10', {
      'Fantail : BullMQ by hand': 'the gain over the usual way to build a fan-out',
      'Fantail : bare loop': 'the price of storing each message, against no queue at all',
      'CPU per delivery, processes': 'the size of a machine',
    }),
    ...rowsOf('fanout-1', {
      'Fantail : BullMQ by hand': 'the worst case: each delivery has a publish of its own',
      'CPU per delivery, processes': 'the size of a machine',
    }),
    ...rowsOf('fanout-1000', { 'CPU per delivery against fan-out 10': 'large topics cost no more' }),
    ...rowsOf('fanout-100000', { 'CPU per delivery against fan-out 10': 'very large topics cost no more' }),
    ...rowsOf('publish', {
      'accepted : the same route that stores nothing': 'the price of storing, for a publisher',
      'messages in batches of 10 : singly': 'the gain of a batch',
    }),
    ...rowsOf('latency', {
      '50 publishes/s, p99': 'the delay of a system that has little to do',
      'half of the highest rate, p99': 'the tail under usual load',
      'half of the highest rate, beside 10,000 waiting lanes, p99': 'waiting lanes add nothing to it',
      '80 % of the highest rate, p99': 'the tail near saturation',
    }),
    ...rowsOf('redis-cost', { 'CPU of Redis per delivery, through lanes': 'Redis is shared by all workers' }),
    ...rowsOf('signed', { 'Fantail signed : BullMQ by hand': 'the price of SNS’s RSA signatures' }),
    ...rowsOf('sealing', { 'sealed : open, CPU': 'the price of encrypted messages' }),
    ...rowsOf('archiving', {
      'with an archive : without, CPU': 'the price of an archive, its blocks included',
    }),
    ...rowsOf('noise', { 'Fantail : itself, CPU per delivery at fan-out 10': 'the error of all these rows' }),
  ],
}

const BACKLOGS: Table = {
  head: HEAD,
  rows: [
    ...rowsOf('waiting', {
      'waiting for its first attempt': 'the backlog that a Redis can hold',
      'waiting for a retry': 'the backlog of an endpoint that fails',
      'takes, against a small backlog': 'a million waiting deliveries slow nothing down',
      'start of a worker until it delivers, against a small backlog': 'nor do they delay a start',
    }),
    ...rowsOf('throttled', {
      'the slowest lane': 'each of 10,000 lanes gets the rate of its throttle',
      Redis: 'the price of 10,000 throttled deliveries a second',
      worker: 'the same for the worker',
    }),
    ...rowsOf('failing', {
      'failing: worker, resident, to 30 s before': 'memory is bounded while every endpoint fails',
      'failing: Redis, to 30 s before': 'the same for Redis',
      'back: fresh messages, the slowest': 'endpoints that work again get messages at once',
    }),
    ...rowsOf('hung', {
      'publish to arrival beside 15000 hung, p99': 'hung endpoints do not slow a healthy one',
      'Redis commands beside 15000 hung against 150': 'waiting lanes of hung endpoints cost nothing',
    }),
    ...rowsOf('idle', {
      'delivery-worker, with lanes, round trips': 'an idle system costs almost nothing',
      'delivery-worker, with lanes, CPU': 'the same for its processor',
    }),
  ],
}

const EARLIER: Table = {
  head: [`work, against commit \`${BASELINE}\``, 'earlier : present', 'CPU'],
  rows: ['fan-out 10', 'fan-out 1', 'fan-out 1,000', 'fan-out 10 through lanes'].map(earlierRow),
}

export const REGIONS: readonly Region[] = [
  { document: 'README.md', name: 'throughput', tables: THROUGHPUT },
  { document: 'docs/performance.md', name: 'results', tables: [RESULTS] },
  { document: 'docs/performance.md', name: 'earlier', tables: [EARLIER] },
  { document: 'docs/performance.md', name: 'backlogs', tables: [BACKLOGS] },
]

export function publishedScenarios(): string[] {
  const cells = REGIONS.flatMap(({ tables }) => tables.flatMap(({ rows }) => rows.flat()))
  return [...new Set(cells.flatMap((cell) => (typeof cell === 'string' ? [] : cell.scenario)))]
}
