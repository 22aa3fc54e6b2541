// @ts-check
/**
 * Filters the output of turbo and its tasks for the local stack. Log lines of services are passed on as they are. Lines
 * about the progress of a start or a stop are kept back, and shown if it takes too long or fails.
 *
 * starting ─ready()→ running ─stopping()→ stopping;  starting ─showAll()→ everything is shown
 */

/** These lines are enough to find the cause of a failure. */
const KEPT_MAX = 300
const TASK_LINE = /^@fantail\/[\w-]+:dev: (.*)$/
/** Redis's own log lines: process, role, time. */
const REDIS_LINE = /^\d+:[\w-]+ |^redis:\/\//
const TASK_BEGINS = /^(?:\$ |cache bypass)/
const LOUD_LEVELS = ['warn', 'error', 'fatal']

/** @param {(line: string) => void} print */
export function createStackOutput(print) {
  /** @type {'starting' | 'running' | 'stopping' | 'all'} */
  let phase = 'starting'
  /** @type {string[]} */
  const kept = []
  const showKept = () => {
    for (const line of kept.splice(0)) print(line)
  }
  return {
    /** @param {string} line */
    line: (line) => {
      const { text, shown } = readLine(line)
      if (text === '') return
      if (phase === 'all' || shown.includes(phase)) return print(text)
      kept.push(text)
      if (kept.length > KEPT_MAX) kept.shift()
    },
    ready: () => {
      if (phase === 'starting') phase = 'running'
      kept.length = 0
    },
    stopping: () => {
      if (phase !== 'all') phase = 'stopping'
      kept.length = 0
    },
    /** Called after a problem: shows all withheld lines, and from now on every line. */
    showAll: () => {
      phase = 'all'
      showKept()
    },
  }
}

/**
 * The text that is shown for a line, and the phases in which it is shown.
 * @param {string} line
 * @returns {{ text: string, shown: string[] }}
 */
function readLine(line) {
  const task = TASK_LINE.exec(line)
  if (!task) return { text: line.trim(), shown: [] }
  const [, said = ''] = task
  if (said.startsWith('{')) return { text: said, shown: phasesOf(said) }
  if (REDIS_LINE.test(said)) return { text: `redis            ${said}`, shown: ['running'] }
  const text = said.trim() === '' ? '' : said
  return { text, shown: TASK_BEGINS.test(said) ? [] : ['starting', 'running', 'stopping'] }
}

/** @param {string} text a log line */
function phasesOf(text) {
  const level = /^\{"level":"(\w+)"/.exec(text)?.[1] ?? ''
  return LOUD_LEVELS.includes(level) ? ['starting', 'running', 'stopping'] : ['running', 'stopping']
}
