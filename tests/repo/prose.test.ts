/** Checks lines of text, the beginnings of comments and of titles of tests, and that no replaced word is used. */
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const CHARS_MAX = 120
const OWN = 'tests/repo/prose.test.ts'
const documents = filesMatching('{*,docs/**/*}.md')
const sources = filesMatching('{packages,services,infra,tests}/**/*.{ts,tsx,mjs,lua}')

/** A word that is too long for any line, such as an address. */
const isOneWord = (line: string) => line.trim().split(/ (?=\S)/).length <= 2

/**
 * Lines that can be wrapped and are not. A row of a table is one line; commands and examples are written as they are
 * run. In sources a text in quotes or a pattern may be longer: the formatter breaks neither.
 */
function longLines(path: string, text: string): string[] {
  const lines = path.endsWith('.md') ? proseIn(text) : text.split('\n')
  return lines.filter(
    (line) => line.length > CHARS_MAX && !isOneWord(line) && !(isCode(path, line) && /['"`/]/.test(line)),
  )
}

function isCode(path: string, line: string): boolean {
  return !path.endsWith('.md') && !/^\s*(\*|\/\*|\/\/|--)/.test(line)
}

function proseIn(text: string): string[] {
  return text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
    .filter((line) => !/^\s*\|| {4}/.test(line.slice(0, 5)))
}

test('a long line is found in prose and comments, and forgiven in tables, examples and texts', () => {
  const long = 'word '.repeat(30)
  expect(longLines('a.md', `${long}\n| ${long} |\n    ${long}\n\`\`\`\n${long}\n\`\`\`\n`)).toEqual([long])
  expect(longLines('a.ts', ` * ${long}\n  '${long}',\n// ${long}\n`)).toEqual([` * ${long}`, `// ${long}`])
})

test.each(['documents', 'sources'])('lines of %s have at most 120 characters', (kind) => {
  const paths = kind === 'documents' ? documents : sources
  const found = paths.flatMap((path) =>
    longLines(path, textOf(path)).map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

test('no comment begins with What, As or Of: the subject comes first', () => {
  const found = sources.flatMap((path) =>
    textOf(path)
      .split('\n')
      .filter((line) => /^\s*(\/\*\*|\*|\/\/|--) (What|As|Of) /.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

/** The text behind `test(`, `describe(` or the table of `test.each`, without the numbers of the checklist. */
function titlesIn(text: string): string[] {
  const calls = /(?:\b(?:test|describe)(?:\.\w+)?|[\])])\(\s*(['"`])(?:\[\d+\])* ?((?:\\.|(?!\1)[^\n])*)\1,/g
  return [...text.matchAll(calls)].map(([, , title = '']) => title)
}

/** A title without a subject, which only its author can read. */
const RIDDLE =
  /^(?:of|as|that|what|whatever|who|whoever|whose|where|which|one (?:of|that|which|who|whose))\b/i

test('a title without a subject is found, behind checklist numbers and tables too', () => {
  const text =
    "test('[1234][1235] one that is late', () => {\n})\n])('of a batch %s', (x) => x)\ntest(`a batch`, run)"
  expect(titlesIn(text)).toEqual(['one that is late', 'of a batch %s', 'a batch'])
  expect(titlesIn(text).filter((title) => RIDDLE.test(title))).toEqual(['one that is late', 'of a batch %s'])
})

test('no title of a test begins with “one that”, “what”, “of” or the like: the subject comes first', () => {
  const paths = filesMatching('{packages,services,infra,tests}/**/*.test.{ts,tsx}').filter(
    (path) => path !== OWN,
  )
  const found = paths.flatMap((path) =>
    titlesIn(textOf(path))
      .filter((title) => RIDDLE.test(title))
      .map((title) => `${path}: ${title}`),
  )
  expect(paths.length).toBeGreaterThan(400)
  expect(found).toEqual([])
})

/** Replaced names: the new name, and how to recognise the old one. */
const REPLACED: { now: string; old: RegExp; within: RegExp }[] = [
  // Examples name the web framework Express.
  {
    now: 'first attempt',
    old: /\bExpress\b|\bexpress(?!\.raw)\b/,
    within: /^(?!README\.md$|tests\/examples\/)/,
  },
  // `fantail apply --plan` and bulk tasks show a plan in the usual sense.
  {
    now: 'snapshot',
    old: /(?<!\/v1\/bulk-)\b[Pp]lans?\b|\bPlan[A-Z]|\bplan[A-Z]|PLANS?_/,
    within: /^(packages\/(?!command-line\/|console\/src\/i18n\/)|services\/)(?!.*\bbulk)/,
  },
  // `held` of a browser's lock manager is the browser's own word.
  {
    now: 'paused, chosen, locked or waiting',
    old: /\b[Hh]eld\b|[a-z]Held\b|\bheld(?!Bytes)[A-Z_]|Held(?!Bodies|Contexts)[A-Z]|HELD_|_held\b/,
    within: /^(?!docs\/glossary\.md$|packages\/console\/src\/live\/tab-queries)/,
  },
  {
    now: 'bit of a subscription',
    old: /\b[sS]lot(?:Facts|Holder|Run|sText|Copies)|\bslot-(?:facts|copies)|bySlots?\b|CodeSlots|record\.slot\b|\bslotsKey\b/,
    within: /./,
  },
  // A turn is one of the event loop. To take turns, and to be used in turn, has its usual sense.
  {
    now: 'lap of a benchmark, round or the work’s own name',
    old: /\b(?:in|take|one|waitFor|publishIn)Turn\b|\bturnOf\(|\binterface Turn\b|\bawait turn\(|\b(?:let|const) \[?turn\b/,
    within: /./,
  },
  { now: 'admission check', old: /QueueGates|queue-gates/, within: /./ },
  {
    now: 'token of an API key',
    old: /Bearer \$KEY|API key without its secret|prints the secret alone/,
    within: /./,
  },
  { now: 'report', old: /\btell(?:[A-Z]\w*)?\b|\bTell[A-Z]/, within: /^(packages|services)\/.*\.ts$/ },
  { now: 'capacity', old: /PushRoom|PartsRoom|\bhasRoom|push-room/, within: /./ },
  { now: 'dead letter', old: /\bbury\b|\bburied\b|\bburials?\b/, within: /^(packages|services)\// },
  { now: 'backoff', old: /\bback-offs?\b/i, within: /./ },
  { now: 'server kind', old: /whenReached|ReachOptions|\breach\.ts\b/, within: /./ },
  {
    now: 'timed claim, target lock, time slice or quota',
    old: /\b(?:Send|Target|Request|Group)Turns?\b/,
    within: /./,
  },
  {
    now: 'rate or tat',
    old: /\b(?:LANE|SLICE|TOPIC)\.(?:throttle|arrival)\b|lane\.gap\b|throttle_of|\btopic_?[Tt]hrottle\b/,
    within: /./,
  },
  {
    now: 'mobile push',
    old: /\bPush(?:Attempter|Events(?:Options)?|Tools|Provider|State)\b|(?<![\w-])push-(?:attempter|traits|schemas|events)\b(?:\.test)?\.ts/,
    within: /./,
  },
  { now: 'isolated', old: /cautious|\bsuspect(?!ed\b)/i, within: /./ },
  { now: 'unproven', old: /\b(?:turnsKey|TurnLine|ShardTurn|suspectInFlight)\b|first_turn/, within: /./ },
  {
    now: 'claim',
    old: /ClaimInHand|LaneInHand|claim-in-hand|\b[Ii]n hand\b|\bhands? (?:it |them )?(?:back|over)\b|handBack/,
    within:
      /^(?!packages\/(?:command-line|consumer|test-kit|console)\/|services\/redrive\/|services\/publish-api\/|tests\/)/,
  },
  // A mark is the proof that a copy exists.
  {
    now: 'barrier, declared dead or settled',
    old: /[wW]rite-?[mM]ark\b|\bmark(?:Dead|Key|Gone|Settled|Unsettled|Delivered|Paused)\b|\bmark(?:ed|ing|s)?\s(?:as )?dead\b/,
    within: /./,
  },
  {
    now: 'followers of a FIFO head',
    old: /\bInRun\b|\b(?:add|pop|pack|delivered|sends)_?[rR]uns?\b|\bRUN_(?:MAX|BYTES|TEXT|LEASE)/,
    within: /./,
  },
  {
    now: 'claim attempt, claim request, single claim or taken claims',
    old: /\b[Ll]ane(?:Attempts|Requests?|Claims?)\b|\blane-(?:attempts|request|claims)\b/,
    within: /^(?:services|docs)\//,
  },
  { now: 'running attempts', old: /\bFirstRuns\b|\bfirst-runs\b/, within: /./ },
  { now: 'blocked', old: /\bstandsFor\b|'stand'|LANE\.stands|lane-stand\b|\bSTAND_MARGIN/, within: /./ },
  {
    now: 'mark that holds',
    old: /\.stand\(|\bstands\(|: Stands\b|type Stands\b|#unnamedStand\b|#standIn\b/,
    within: /./,
  },
  { now: 'belong in', old: /\bbelongs? into\b/, within: /./ },
  { now: 'canceled', old: /\b[Cc]ancelled\b/, within: /./ },
  { now: 'distant', old: /\bFAR_TAKES\b|\bFarTakes\b|\bisFar\b/, within: /./ },
  { now: 'source of a delivery', old: /\b(?:Job|Lane)Place\b|\b(?:job|lane)Place\b/, within: /./ },
  { now: 'outcomes and outcome reader', old: /\beventLog\b/, within: /./ },
  {
    now: 'task',
    old: /\b[rR]unRedrive\b|RunRedriveDeps|RedrivePauses|\b(?:run-redrive|redrive-pauses)\b/,
    within: /./,
  },
]

test.each(REPLACED)('the thing that is called $now has no other name', ({ old, within }) => {
  const paths = [...documents, ...sources].filter((path) => path !== OWN && path !== 'CHANGELOG.md')
  const found = paths.filter((path) => within.test(path) && old.test(`${path}\n${textOf(path)}`))
  expect(found).toEqual([])
})
