/**
 * The commands of a guide, as its tests run them. In a block ```sh:
 *
 *   curl …                       a step: lines up to the next comment or empty line
 *   # → "state":"delivered"      what the step prints, white space aside; `…` is any text
 *   # → {"id":"<dead>"           `<dead>` is taken from the output, and stands for it from then on
 *   # After a moment:            the next step is repeated until it prints what it should
 *   # Not run by the tests: …    the rest of the block is for readers
 */

export interface Step {
  /** Line number in the source of the guide, from 1. */
  line: number
  /** The last heading before it. */
  section: string
  code: string
  /** Texts that the step must print, in this order. */
  expected: string[]
  repeated: boolean
}

const EXPECTED = '# → '
const REPEATED = '# After a moment:'
const NOT_RUN = '# Not run by the tests: '

interface Line {
  number: number
  text: string
}

interface Block {
  section: string
  lines: Line[]
}

export function stepsOf(guide: string): Step[] {
  return shellBlocks(guide).flatMap(stepsOfBlock)
}

function shellBlocks(guide: string): Block[] {
  const blocks: Block[] = []
  let section = ''
  let block: Block | undefined
  for (const [index, text] of guide.split('\n').entries()) {
    if (!block) section = /^##+ (.+)$/.exec(text)?.[1] ?? section
    if (text === '```sh') block = { section, lines: [] }
    else if (text === '```' && block) {
      blocks.push(block)
      block = undefined
    } else block?.lines.push({ number: index + 1, text })
  }
  return blocks
}

function stepsOfBlock({ section, lines }: Block): Step[] {
  const steps: Step[] = []
  let step: Step | undefined
  let repeated = false
  for (const { number, text } of lines) {
    if (text.startsWith(NOT_RUN)) return steps
    if (text.startsWith(EXPECTED)) steps.at(-1)?.expected.push(text.slice(EXPECTED.length))
    if (text === '' || text.startsWith('#')) {
      step = undefined
      repeated ||= text === REPEATED
    } else if (step) step.code += `\n${text}`
    else {
      step = { line: number, section, code: text, expected: [], repeated }
      repeated = false
      steps.push(step)
    }
  }
  return steps
}

/** The commands in one column of a table; `row` is the text in the row's first cell. */
export function commandsOfTable(guide: string, heading: string): { row: string; command: string }[] {
  const rows = guide.split('\n').flatMap((line) => (line.startsWith('|') ? [cellsOf(line)] : []))
  const column = rows.find((cells) => cells.includes(heading))?.indexOf(heading) ?? -1
  return rows.flatMap((cells) => {
    const command = /^`([^`]+)`$/.exec(cells[column] ?? '')?.[1]
    return command === undefined ? [] : [{ row: cells[0] ?? '', command }]
  })
}

/** Within a cell, a pipe is written as `\|`. */
function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** The value of each `<name>`. */
export type Known = Map<string, string>

/** Throws if a name has no value yet. */
export function filledIn(code: string, known: Known): string {
  return code.replace(/<([a-zA-Z]+)>/g, (_, name: string) => {
    const value = known.get(name)
    if (value === undefined) throw new Error(`nothing before has shown <${name}>`)
    return value
  })
}

/** Whether the output contains the texts in this order. If so, it also takes the values of new names from it. */
export function agrees(output: string, expected: string[], known: Known): boolean {
  const names: string[] = []
  const pattern = expected.map((text) => patternOf(text, known, names)).join(ANY_TEXT)
  const found = new RegExp(pattern).exec(output)
  if (!found) return false
  for (const [index, name] of names.entries()) known.set(name, found[index + 1] ?? '')
  return true
}

function patternOf(text: string, known: Known, names: string[]): string {
  return text
    .split(/(…|<[a-zA-Z]+>)/)
    .map((part) => {
      if (part === '…') return ANY_TEXT
      const name = /^<([a-zA-Z]+)>$/.exec(part)?.[1]
      if (name === undefined) return spaced(part)
      if (known.has(name)) return escaped(known.get(name) ?? '')
      if (names.includes(name)) return `\\${names.indexOf(name) + 1}`
      names.push(name)
      return '([^\\s"&,{}]+)'
    })
    .join('')
}

const ANY_TEXT = '[\\s\\S]*?'

/** Allows any white space in JSON. */
function spaced(text: string): string {
  const parts = text.split(/\s*([{}[\]:,]|\s)\s*/).filter((part) => part !== '')
  return parts.map((part) => (/^\s$/.test(part) ? '\\s*' : spacedMark(part))).join('')
}

function spacedMark(part: string): string {
  return /^[{}[\]:,]$/.test(part) ? `\\s*${escaped(part)}\\s*` : escaped(part)
}

/** Replaces every key by its value, the longest first, and nothing in what it has put there. */
export function replacedIn(text: string, places: Record<string, string>): string {
  const usual = Object.keys(places).toSorted((a, b) => b.length - a.length)
  return text.replace(new RegExp(usual.map(escaped).join('|'), 'g'), (found) => places[found] ?? found)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
