/**
 * Every command of `fantail`. The table imports none of them: a command is loaded when it is called, so that the
 * command line starts fast however many there are.
 */
import type { Define } from './frame/command-context.ts'

export interface Row {
  summary: string
  /** The words after the name in the list of commands. */
  words?: string
}

interface LoadedCommand extends Row {
  load: () => Promise<Define>
}

/** A command that reads its words itself, and needs Redis instead of the API. */
interface ProcessCommand extends Row {
  process: () => Promise<unknown>
}

const ROWS: Record<string, LoadedCommand | ProcessCommand> = {
  dev: {
    words: '[--port N] [--ephemeral]',
    summary: 'run a whole stack on this machine',
    load: async () => (await import('./commands/dev/dev-command.ts')).dev,
  },
  login: {
    summary: 'save a server and its key as a profile',
    load: async () => (await import('./commands/setup/profile-commands.ts')).login,
  },
  whoami: {
    summary: 'show which server and which key are used',
    load: async () => (await import('./commands/setup/profile-commands.ts')).whoami,
  },
  use: {
    words: 'PROFILE',
    summary: 'use another profile',
    load: async () => (await import('./commands/setup/profile-commands.ts')).use,
  },
  topics: {
    words: 'list | get | create | set | rm',
    summary: 'topics and their settings',
    load: async () => (await import('./commands/topics/topics-command.ts')).topics,
  },
  'event-types': {
    words: 'list | get | set | rm | import | typescript',
    summary: 'the catalogue of a topic: types with schemas',
    load: async () => (await import('./commands/topics/event-types-command.ts')).eventTypes,
  },
  subs: {
    words: 'list | get | add | set | rm | pause …',
    summary: 'subscriptions: settings, pauses, tests, keys',
    load: async () => (await import('./commands/topics/subs-command.ts')).subs,
  },
  queues: {
    words: 'list | get | create | set | rm | send …',
    summary: 'queues and their messages',
    load: async () => (await import('./commands/queues/queues-command.ts')).queues,
  },
  publish: {
    words: 'TOPIC [BODY]',
    summary: 'publish a message, or each line of stdin',
    load: async () => (await import('./commands/messages/publish-command.ts')).publish,
  },
  trigger: {
    words: 'TOPIC [EVENT]',
    summary: 'publish a sample event',
    load: async () => (await import('./commands/messages/trigger-command.ts')).trigger,
  },
  listen: {
    words: 'TOPICS --forward-to URL',
    summary: 'forward messages to a server on this machine',
    load: async () => (await import('./commands/listen/listen-command.ts')).listen,
  },
  replay: {
    words: 'FILES --to URL',
    summary: 'send recorded requests again',
    load: async () => (await import('./commands/listen/replay-command.ts')).replay,
  },
  explain: {
    words: 'MESSAGE',
    summary: 'show where each delivery stands, and why',
    load: async () => (await import('./commands/messages/explain-command.ts')).explain,
  },
  search: {
    words: '[TEXT] [--letters]',
    summary: 'find messages and dead letters by content',
    load: async () => (await import('./commands/messages/search-command.ts')).search,
  },
  find: {
    words: 'WORDS',
    summary: 'find topics, subscriptions, queues and keys by name',
    load: async () => (await import('./commands/messages/search-command.ts')).find,
  },
  tail: {
    words: '[TOPIC]',
    summary: 'show attempts and ends as they happen',
    load: async () => (await import('./commands/messages/tail-command.ts')).tail,
  },
  dlq: {
    words: 'list | show | edit | export | purge | rm',
    summary: 'dead letters',
    load: async () => (await import('./commands/queues/dlq-command.ts')).dlq,
  },
  redrive: {
    words: 'QUEUE | list | watch | pause | …',
    summary: 'send dead letters again',
    load: async () => (await import('./commands/queues/redrive-command.ts')).redrive,
  },
  filter: {
    words: 'test',
    summary: 'test a filter policy with a message',
    load: async () => (await import('./commands/topics/filter-command.ts')).filter,
  },
  verify: {
    words: '--key KEY',
    summary: 'check the signature of a webhook, offline',
    load: async () => (await import('./commands/messages/verify-command.ts')).verify,
  },
  curve: {
    words: '[POLICY]',
    summary: 'show when a retry policy retries',
    load: async () => (await import('./commands/topics/curve-command.ts')).curve,
  },
  lanes: {
    words: 'list | pause | resume | retry | redrive …',
    summary: 'list what is stuck, and act on many at once',
    load: async () => (await import('./commands/topics/lanes-command.ts')).lanes,
  },
  apps: {
    words: 'list | get | set | rm',
    summary: 'push platforms',
    load: async () => (await import('./commands/service/apps-command.ts')).apps,
  },
  endpoints: {
    words: 'list | get | add | set | rm',
    summary: 'devices behind a push platform',
    load: async () => (await import('./commands/service/apps-command.ts')).endpoints,
  },
  quotas: {
    words: 'list | set | rm',
    summary: 'what customers may have, and what they have',
    load: async () => (await import('./commands/service/quotas-command.ts')).quotas,
  },
  suppressions: {
    words: 'list | add | rm | import',
    summary: 'addresses that get no mail',
    load: async () => (await import('./commands/service/suppressions-command.ts')).suppressions,
  },
  quarantine: {
    words: 'list | export | put-back | rm',
    summary: 'data that cannot be decoded',
    load: async () => (await import('./commands/service/quarantine-command.ts')).quarantine,
  },
  doctor: {
    summary: 'look for problems, and say how to fix them',
    load: async () => (await import('./commands/setup/doctor-command.ts')).doctor,
  },
  export: {
    words: '[--prefix TEXT] [--schema]',
    summary: 'write topics, subscriptions and queues to a file',
    load: async () => (await import('./commands/service/state-commands.ts')).exportState,
  },
  apply: {
    words: '-f FILE [--plan] [--prune [PREFIX]]',
    summary: 'make the server be as a file says',
    load: async () => (await import('./commands/service/state-commands.ts')).apply,
  },
  bridge: {
    words: 'TOPIC-ARN',
    summary: 'copy the messages of a topic at AWS, with their ids',
    load: async () => (await import('./commands/aws/bridge/bridge-command.ts')).bridge,
  },
  compare: {
    words: 'TOPIC-ARN',
    summary: 'show what subscribers get from AWS and from Fantail',
    load: async () => (await import('./commands/aws/compare/compare-command.ts')).compare,
  },
  cutover: {
    words: 'TOPIC-ARN [--all] [--back]',
    summary: 'switch subscriptions from AWS to Fantail, or back',
    load: async () => (await import('./commands/aws/cutover/cutover-command.ts')).cutover,
  },
  import: {
    words: 'sns [--plan] [--region REGION]',
    summary: 'take over topics, subscriptions and queues of AWS',
    load: async () => (await import('./commands/import/import-command.ts')).importFrom,
  },
  completion: {
    words: 'bash | zsh | fish',
    summary: 'complete commands and names in a shell',
    load: async () => (await import('./commands/setup/completion-command.ts')).completion,
  },
  keys: {
    words: 'create | list | revoke',
    summary: 'API keys, straight in Redis; makes the first one',
    process: () => import('./keys/main.ts'),
  },
  secrets: {
    words: 'create | wrap | reseal | report',
    summary: 'master keys: make, wrap and change them, straight in Redis',
    process: () => import('./secrets/main.ts'),
  },
  all: {
    words: '[--workers N|auto] [--apis N|auto]',
    summary: 'run every service; several of each, if asked',
    process: () => import('./all/main.ts'),
  },
  move: {
    words: '--from URL',
    summary: 'move everything to another Redis',
    process: () => import('./move/main.ts'),
  },
  drill: {
    words: 'BACKUP',
    summary: 'try whether a backup of Redis can be restored',
    process: () => import('./drill/main.ts'),
  },
}

export const COMMANDS: ReadonlyMap<string, LoadedCommand | ProcessCommand> = new Map(Object.entries(ROWS))

/** The services. infra/bin/fantail.mjs starts them. */
export const SERVICES = ['api', 'worker', 'redrive']
