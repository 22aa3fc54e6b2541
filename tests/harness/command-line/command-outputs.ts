/**
 * The table of commands of `fantail`: the objects that each prints with `--json`, and the exit codes that it has.
 * `docs/command-line-output.md` is made from it. Each process that a test starts is checked against it
 * (`checked-runs.ts`).
 */
import { OWN, ofApi, type Shape } from './output-shapes.ts'

/** The other side of a command. It decides which exit codes are possible. */
type Reach = 'server' | 'machine' | 'redis' | 'service'

const CODES: Record<Reach, number[]> = {
  server: [0, 1, 2, 3, 4, 5, 6, 7, 130],
  machine: [0, 1, 2, 7, 130],
  redis: [0, 1, 2],
  service: [0, 1, 78],
}

interface CommandOutput {
  reach: Reach
  /** The shapes of a line. None: the command takes no `--json`. */
  json: readonly Shape[]
  codes: number[]
  /** Codes that mean something of their own here. */
  meanings: Record<number, string>
  /** The test that runs it as a process, sees each shape, and each code that has a meaning. */
  test: string
}

const MAIN = 'tests/cli/commands.test.ts'
const OPERATING = 'tests/cli/operating-commands.test.ts'
const LISTEN = 'tests/cli/listen.test.ts'
const AWS = 'tests/cli/aws-commands.test.ts'
const REDIS = 'tests/cli/redis-commands.test.ts'

const row =
  (reach: Reach) =>
  (test: string, json: readonly Shape[] = [], meanings: Record<number, string> = {}): CommandOutput => {
    const codes = new Set([...CODES[reach], ...Object.keys(meanings).map(Number)])
    return { reach, test, json, meanings, codes: [...codes].toSorted((a, b) => a - b) }
  }
const [server, machine, redis, service] = [row('server'), row('machine'), row('redis'), row('service')]

const [TOPIC, SUBSCRIPTION, QUEUE, QUEUE_MESSAGE] = ['Topic', 'Subscription', 'Queue', 'QueueMessage'].map(
  (name) => [ofApi(name)],
)
const EVENT_TYPE = [ofApi('EventType')]
const REDRIVE = [ofApi('Redrive')]
const BULK = [ofApi('BulkTask')]
const DELETED = [OWN.deleted]
const CHANGES = { 9: 'with `--plan`: there are changes' }
const WRONG = { 1: 'a setting is wrong, or a process has failed' }
const [APPLICATION, ENDPOINT] = [[ofApi('PlatformApplication')], [ofApi('PlatformEndpoint')]]

export const COMMAND_OUTPUTS: Record<string, CommandOutput> = {
  dev: machine('tests/cli/dev-command.test.ts', [OWN.addresses], {
    1: 'a service has ended',
    5: 'a port or the data folder is in use',
    130: 'ended by Ctrl-C',
  }),
  login: server(MAIN, [OWN.saved]),
  whoami: server(MAIN, [OWN.whoami]),
  use: machine(MAIN, [OWN.profile, OWN.used], { 3: 'the profile does not exist' }),
  'topics list': server(MAIN, TOPIC),
  'topics get': server(MAIN, TOPIC),
  'topics create': server(MAIN, TOPIC),
  'topics set': server(MAIN, TOPIC),
  'topics rm': server(MAIN, DELETED),
  'event-types list': server(MAIN, [OWN.eventType]),
  'event-types get': server(MAIN, EVENT_TYPE),
  'event-types set': server(MAIN, EVENT_TYPE),
  'event-types rm': server(MAIN, DELETED),
  'event-types import': server(MAIN, [ofApi('EventTypeImportResult')], CHANGES),
  'event-types typescript': server(MAIN, [OWN.source]),
  'subs list': server(MAIN, SUBSCRIPTION),
  'subs get': server(MAIN, SUBSCRIPTION),
  'subs add': server(MAIN, SUBSCRIPTION),
  'subs set': server(MAIN, SUBSCRIPTION),
  'subs rm': server(MAIN, DELETED),
  'subs pause': server(MAIN, SUBSCRIPTION),
  'subs resume': server(MAIN, SUBSCRIPTION),
  'subs retry': server(MAIN, [ofApi('RetryNowResult')]),
  'subs test': server(MAIN, [ofApi('TestAttempt')], { 1: 'the answer is not 2xx' }),
  'subs set-aside': server(MAIN, [ofApi('SetAsideResult')], {
    5: 'the dead-letter queue is missing, or an attempt is under way',
  }),
  'subs rotate-key': server(MAIN, [ofApi('CreatedWebhookKey')]),
  'queues list': server(MAIN, QUEUE),
  'queues get': server(MAIN, QUEUE),
  'queues create': server(MAIN, QUEUE),
  'queues set': server(MAIN, QUEUE),
  'queues rm': server(MAIN, DELETED),
  'queues purge': server(MAIN, [ofApi('PurgeResult')]),
  'queues peek': server(MAIN, QUEUE_MESSAGE),
  'queues send': server(MAIN, [ofApi('QueueSendReceipt')]),
  'queues receive': server(MAIN, [ofApi('ReceivedMessage')]),
  publish: server(MAIN, [ofApi('PublishReceipt'), OWN.publishedLine], {
    8: 'some lines are not known to be published',
  }),
  trigger: server(MAIN, [OWN.triggered, OWN.explained]),
  listen: server(LISTEN, [OWN.forwarded, OWN.secret], { 130: 'ended by Ctrl-C' }),
  replay: machine(LISTEN, [OWN.replayed], { 3: 'the files do not exist', 8: 'some answers are not 2xx' }),
  explain: server(MAIN, [OWN.explained]),
  search: server(MAIN, [ofApi('FoundKeptMessage'), ofApi('FoundDeadLetter')]),
  find: server(MAIN, [ofApi('FoundName')]),
  tail: server('tests/cli/tail-command.test.ts', [OWN.event, OWN.gap], { 130: 'ended by Ctrl-C' }),
  'dlq list': server(MAIN, QUEUE),
  'dlq show': server(MAIN, QUEUE_MESSAGE),
  'dlq edit': server(MAIN, [ofApi('EditedRedrive'), ...REDRIVE], {
    1: 'nothing was edited or sent',
    8: 'with `--watch`: the letter was skipped or is dead again',
  }),
  'dlq export': server(MAIN, QUEUE_MESSAGE),
  'dlq purge': server(MAIN, [ofApi('PurgeResult'), ...REDRIVE]),
  'dlq rm': server(MAIN, DELETED),
  'redrive start': server(MAIN, [...REDRIVE, ofApi('RedriveDryRun')], {
    5: 'a redrive of the queue runs',
    8: 'letters were skipped or are dead again, or it paused itself',
  }),
  'redrive list': server(MAIN, REDRIVE),
  'redrive get': server(MAIN, REDRIVE),
  'redrive watch': server(MAIN, REDRIVE, { 8: 'as `redrive start`' }),
  'redrive pause': server(MAIN, REDRIVE),
  'redrive resume': server(MAIN, REDRIVE),
  'redrive cancel': server(MAIN, REDRIVE),
  'redrive rate': server(MAIN, REDRIVE),
  'filter test': server(MAIN, [ofApi('FilterTest')], { 1: 'the policy does not match' }),
  verify: machine(MAIN, [OWN.verified], { 1: 'the signature is wrong' }),
  curve: machine(OPERATING, [OWN.retry, OWN.retryInOutage]),
  'lanes list': server(OPERATING, [ofApi('Lane')]),
  'lanes pause': server(OPERATING, BULK),
  'lanes resume': server(OPERATING, BULK),
  'lanes retry': server(OPERATING, BULK),
  'lanes test': server(OPERATING, BULK, { 8: 'some endpoints did not answer 2xx' }),
  'lanes redrive': server(OPERATING, BULK),
  'lanes purge': server(OPERATING, BULK),
  'lanes erase': server(OPERATING, BULK),
  'lanes watch': server(OPERATING, BULK, { 8: 'some lanes failed' }),
  'lanes cancel': server(OPERATING, BULK),
  'lanes undo': server(OPERATING, BULK),
  'lanes tasks': server(OPERATING, BULK),
  'apps list': server(OPERATING, APPLICATION),
  'apps get': server(OPERATING, APPLICATION),
  'apps set': server(OPERATING, APPLICATION),
  'apps rm': server(OPERATING, DELETED),
  'endpoints list': server(OPERATING, ENDPOINT),
  'endpoints get': server(OPERATING, ENDPOINT),
  'endpoints add': server(OPERATING, ENDPOINT),
  'endpoints set': server(OPERATING, ENDPOINT),
  'endpoints rm': server(OPERATING, DELETED),
  'quotas list': server(OPERATING, [ofApi('Quota')]),
  'quotas set': server(OPERATING, [ofApi('Quota')]),
  'quotas rm': server(OPERATING, DELETED),
  'suppressions list': server(OPERATING, [ofApi('Suppression')]),
  'suppressions add': server(OPERATING, [ofApi('Suppression')]),
  'suppressions rm': server(OPERATING, DELETED),
  'suppressions import': server(OPERATING, [ofApi('BouncesResult')]),
  'quarantine list': server(OPERATING, [ofApi('QuarantineEntry')]),
  'quarantine export': server(OPERATING, [ofApi('QuarantineExport')]),
  'quarantine put-back': server(OPERATING, [ofApi('PutBackResult')]),
  'quarantine rm': server(OPERATING, DELETED),
  doctor: server(OPERATING, [OWN.finding], { 1: 'a check failed' }),
  export: server(OPERATING, [OWN.state, OWN.jsonSchema]),
  apply: server(OPERATING, [OWN.change], { 8: 'some changes were made', ...CHANGES }),
  bridge: server(AWS, [OWN.bridged, OWN.unsubscribed, OWN.deletedQueue], {
    3: 'the topic does not exist, or with `--end`: the bridge does not exist',
    8: 'with `--delete-queues`: a queue stays',
    130: 'ended by Ctrl-C',
  }),
  compare: server(AWS, [OWN.compared, OWN.unsubscribed, OWN.deletedQueue], { 9: 'something differs' }),
  cutover: server(AWS, [OWN.cutoverPlan, OWN.switched], {
    5: 'no bridge is subscribed',
    8: 'some subscriptions were not switched',
  }),
  'import sns': server('tests/cli/import-sns.test.ts', [OWN.imported, OWN.curves, OWN.change, OWN.state], {
    8: 'some changes were made',
    ...CHANGES,
  }),
  'import svix': server('tests/cli/import-svix.test.ts', [OWN.imported, OWN.change, OWN.state], {
    8: 'some changes were made',
    ...CHANGES,
  }),
  completion: machine(OPERATING),
  'keys create': redis(REDIS, [ofApi('CreatedKey')]),
  'keys list': redis(REDIS, [ofApi('Key')]),
  'keys revoke': redis(REDIS, DELETED, { 3: 'the key does not exist' }),
  'secrets create': redis(REDIS),
  'secrets wrap': redis(REDIS),
  'secrets reseal': redis(REDIS),
  'secrets report': redis(REDIS),
  move: redis('tests/scaling/move-to-cluster.test.ts'),
  drill: redis(REDIS),
  api: service(REDIS, [], WRONG),
  worker: service(REDIS, [], WRONG),
  redrive: service(REDIS, [], WRONG),
  all: service(REDIS, [], WRONG),
}

const FLAGS_WITH_VALUE = ['--profile', '--url', '--timeout']

/** The row of a command line. Undefined: it asks for help or names no command. */
export function commandOf(words: readonly string[]): string | undefined {
  const names = words.filter(
    (word, at) => !word.startsWith('-') && !FLAGS_WITH_VALUE.includes(words[at - 1] ?? ''),
  )
  const [first = '', second = ''] = names
  const whole = `${first} ${second === 'ls' ? 'list' : second}`
  if (whole in COMMAND_OUTPUTS) return whole
  if (first === 'redrive' && second !== '') return 'redrive start'
  if (first === 'lanes') return 'lanes list'
  return first in COMMAND_OUTPUTS ? first : undefined
}
